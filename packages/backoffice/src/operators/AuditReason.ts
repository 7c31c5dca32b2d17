import { textSchema } from "@outreach/domain/textSchema"

const MAX_LENGTH = 200

/** An operator's reason, for the audit log, which must not contain personal data. */
export const AuditReason = textSchema(
  `1 to ${MAX_LENGTH} characters on one line, for the audit log, without an e-mail address or an NPI`,
  (text) => {
    const reason = text.trim()
    const isLine = reason !== "" && reason.length <= MAX_LENGTH && !/\p{Cc}/u.test(reason)
    return isLine && !/@|\d{10}/.test(reason) ? reason : undefined
  },
)
