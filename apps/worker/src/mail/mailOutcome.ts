import type { MailFailure, MailOutcome } from "@outreach/domain/mail/Mailer"
import type { SmtpError } from "@outreach/mail/SmtpError"
import { networkFailure } from "@outreach/webhooks/networkFailure"
import { classifySmtpReply, STATUS } from "./classifySmtpReply.ts"

/** What a session knows of a message that was not taken. */
export type SmtpFailure = Partial<Pick<SmtpError, "code" | "originalCode" | "command" | "responseCode" | "response">>

/** How far the session had come. */
export interface SmtpProgress {
  readonly isLoggedIn: boolean
  /** The dot that ends the message may have been sent, and its reply was awaited. */
  readonly isMessageSent: boolean
}

/** Judges why a message was not taken. */
export const mailOutcome = (error: SmtpFailure, { isLoggedIn, isMessageSent }: SmtpProgress): MailOutcome => {
  const { code, command, responseCode, response } = error
  // Before anything was said to the server: the address cannot be written in the protocol.
  if (command === "API" && code === "EENVELOPE") return { _tag: "Bounced", reason: "address_invalid" }
  // The mailbox may be fine, so that its address is not suppressed. Another attempt would meet the same server.
  if (code === "ESMTPUTF8") return { _tag: "Bounced", reason: "other", lacking: "SMTPUTF8" }
  if (responseCode === undefined) {
    return { _tag: isMessageSent ? "Unknown" : "Unreachable", failure: failureWithoutReply(error) }
  }
  const text = response ?? ""
  // 503 is about the order of commands, also in reply to these two.
  const isAboutMessage = (command === "RCPT TO" || command === "DATA") && responseCode !== 503
  const isLogin = code === "EAUTH" || LOGIN_CODES.includes(responseCode)
  const isRelayDenied = isAboutMessage && !isLoggedIn && RELAY_DENIED.test(text)
  if (isAboutMessage && !isLogin && !isRelayDenied) return classifySmtpReply({ code: responseCode, text, at: command })
  // A server that refuses any other command, or us as its client, takes no message from us, to no recipient.
  const codes = [responseCode, STATUS.exec(text)?.[0]].join(" ").trimEnd()
  return {
    _tag: "Unreachable",
    failure: {
      class: isLogin ? "login" : isRelayDenied ? "relay_denied" : "rejected",
      code: `${codes} to ${command}`,
    },
  }
}

/** Replies of RFC 4954: authentication is required, too weak, or failed. */
const LOGIN_CODES = [530, 534, 535, 538]

const RELAY_DENIED =
  /relay(ing)? (access |is )*(denied|not (permitted|allowed|authorized)|prohibited)|\b(not (permitted|allowed|authorized)|unable|denied) to relay|allowed rcpthosts|authentication (is )?required|must (first )?(be )?(authenticated?|log ?in)|client was not authenticated/i

const failureWithoutReply = ({ code, originalCode, command }: SmtpFailure): MailFailure => {
  const name = originalCode ?? code ?? "unknown"
  if (code === "EAUTH") return { class: "login", code: name }
  if (code === "EPROTOCOL") return { class: "protocol", code: `${name} at ${command}` }
  if (code === "ETIMEDOUT" && originalCode === undefined) {
    const isOfOneMessage = command === "RCPT TO" || command === "DATA"
    return { class: isOfOneMessage ? "slow" : "timeout", code: `${name} at ${command}` }
  }
  if (code === "STOPPED") return { class: "stopped", code: name }
  const named = networkFailure({ code: name })
  if (named === "unresolved_name") return { class: "dns", code: name }
  if (named === "tls" || named === "refused" || named === "reset") return { class: named, code: name }
  if (named === "connect_timeout") return { class: "timeout", code: name }
  return { class: code === "ECONNECTION" ? "reset" : "unknown", code: name }
}
