import { textSchema } from "../textSchema.ts"

const MAX_LENGTH = 200

/** Why an operator does something, for the audit log, which holds no personal data. */
export const AuditReason = textSchema(
  `1 to ${MAX_LENGTH} characters on one line, for the audit log, without an e-mail address or an NPI`,
  (text) => {
    const reason = text.trim()
    const isLine = reason !== "" && reason.length <= MAX_LENGTH && !/\p{Cc}/u.test(reason)
    return isLine && !/@|\d{10}/.test(reason) ? reason : undefined
  },
)
