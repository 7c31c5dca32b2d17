import type { ReportedOutcome } from "@outreach/domain/mail/Bounces"
import type { Email } from "postal-mime"
import { classifySmtpReply } from "./classifySmtpReply.ts"
import { isReport, partOf, readFieldGroups } from "./parseReport.ts"

/**
 * Reads what a delivery status notification (RFC 3464, RFC 6533) says for good of its one message; undefined for anything else, such as an
 * automatic reply, for a notice of delay, and for one that says that the message was delivered or passed on to anybody.
 */
export const readDeliveryReport = (message: Email): ReportedOutcome | undefined => {
  if (!isReport(message, "delivery-status") && !isReport(message, "global-delivery-status")) return undefined
  const groups = readFieldGroups(partOf(message, "message/delivery-status", "message/global-delivery-status"))
  const recipients = groups.filter((fields) => fields.has("action"))
  if (recipients.length === 0 || recipients.some((fields) => !/^failed\b/i.test(fields.get("action")!)))
    return undefined
  return judgeFields(recipients[0]!)
}

const judgeFields = (fields: ReadonlyMap<string, string>) => {
  const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(fields.get("status") ?? "")?.[0] ?? "5.0.0"
  const diagnostic = (fields.get("diagnostic-code") ?? "").replace(/^[\w-]+\s*;\s*/, "")
  const code = Number(/^\W*([45]\d\d)\b/.exec(diagnostic)?.[1] ?? (status.startsWith("4") ? 400 : 500))
  // A status that says nothing leaves the word to the server's own.
  const text = status.endsWith(".0.0") ? diagnostic : `${status} ${diagnostic}`
  const verdict = classifySmtpReply({ code, text, at: "RCPT TO" })
  return diagnostic === "" ? verdict : { ...verdict, reply: diagnostic }
}
