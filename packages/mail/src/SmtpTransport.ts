import { cleanSmtpReply } from "@outreach/domain/mail/returned/cleanSmtpReply"
import { type ComposedMail, type MailFailure, type MailOutcome, Transport } from "@outreach/domain/mail/Transport"
import { networkFailure } from "@outreach/process/networkFailure"
import { Effect, Layer, Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { classifySmtpReply, STATUS } from "./classifySmtpReply.ts"
import type { SmtpError } from "./SmtpError.ts"
import { type SmtpOptions, SmtpSession, type SmtpTimeouts, TIMEOUTS } from "./SmtpSession.ts"

const MAX_MESSAGES_PER_SESSION = 100

/** Idle sessions are closed before the server closes them (RFC 5321, 4.5.3.2.7: after five minutes). */
const IDLE_MS = 240_000

/** Shorter timeouts, for a person who waits. */
export const INTERACTIVE_TIMEOUTS = {
  connectMs: 10_000,
  replyMs: 30_000,
  dataMs: 30_000,
  blockMs: 60_000,
  finalMs: 60_000,
}

/** Delivers over SMTP. Each message uses an idle session or opens another. */
export const SmtpTransport = (url: Redacted.Redacted, timeouts: SmtpTimeouts = TIMEOUTS) =>
  Layer.effect(
    Transport,
    Effect.gen(function* () {
      const smtpOptions = parseConnectionUrl(Redacted.value(url)) as SmtpOptions
      const idle: Array<{ readonly session: SmtpSession; readonly timer: NodeJS.Timeout }> = []
      const takeIdle = (): SmtpSession | undefined => {
        for (let last = idle.pop(); last !== undefined; last = idle.pop()) {
          clearTimeout(last.timer)
          if (last.session.isOpen) return last.session
        }
        return undefined
      }
      const keep = (session: SmtpSession) => {
        if (!session.isOpen) return
        if (session.sentMessages >= MAX_MESSAGES_PER_SESSION) return session.quit()
        idle.push({ session, timer: setTimeout(() => session.quit(), IDLE_MS).unref() })
      }
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (let session = takeIdle(); session !== undefined; session = takeIdle()) session.quit()
        }),
      )

      const transmit = async (
        mail: ComposedMail,
        mayComplete: () => boolean,
        stop: AbortSignal,
      ): Promise<MailOutcome> => {
        while (true) {
          const kept = takeIdle()
          let session = kept
          const close = () => session?.close()
          stop.addEventListener("abort", close)
          try {
            session ??= await SmtpSession.open(smtpOptions, timeouts)
            if (stop.aborted) close()
            const reply = await session.send(mail, mayComplete)
            return { _tag: "Accepted", reply: cleanSmtpReply(reply, mail.envelope.to) }
          } catch (error) {
            const failure = error as SmtpError
            if (failure.code === "ELATE") return { _tag: "Late" }
            // A kept session that the server closed, or that is out of step, isn't evidence about this message.
            const isStale = STALE.includes(failure.code) || failure.reply?.code === 421
            if (kept !== undefined && !kept.isMessageBegun && isStale && !stop.aborted) {
              kept.close()
              continue
            }
            return mailOutcome(failure, mail, session)
          } finally {
            stop.removeEventListener("abort", close)
            if (session !== undefined) keep(session)
          }
        }
      }
      return { deliver: (mail, mayComplete) => Effect.promise((stop) => transmit(mail, mayComplete, stop)) }
    }),
  )

const STALE = ["ECONNECTION", "ESOCKET", "EPROTOCOL"]

/** Determines the outcome of a message that wasn't accepted. It includes the server's reply if that judged the message. */
const mailOutcome = (
  error: SmtpError,
  { envelope }: ComposedMail,
  session: Pick<SmtpSession, "isLoggedIn" | "isMessageSent"> | undefined,
): MailOutcome => {
  const { code, command, reply } = error
  // Before any command was sent: the protocol can't express the address.
  if (code === "EENVELOPE") return { _tag: "Bounced", reason: "address_invalid" }
  // The mailbox may be valid, so its address isn't suppressed. Another attempt would reach the same server.
  if (code === "ESMTPUTF8") return { _tag: "Bounced", reason: "other", lacking: "SMTPUTF8" }
  if (reply === undefined) {
    return { _tag: session?.isMessageSent ? "Unknown" : "Unreachable", failure: smtpFailure(error) }
  }
  // 503 is about the order of commands, even in reply to these two.
  const isAboutMessage = isOfMessage(command) && reply.code !== 503 && !isLoginRejected(error)
  const isRelayDenied = isAboutMessage && !session?.isLoggedIn && RELAY_DENIED.test(reply.text)
  if (isAboutMessage && !isRelayDenied) {
    return { ...classifySmtpReply({ ...reply, at: command }), reply: cleanSmtpReply(reply.text, envelope.to) }
  }
  // A server that rejects other commands, or us as a client, accepts no message for any recipient.
  const failure = smtpFailure(error)
  return { _tag: "Unreachable", failure: isRelayDenied ? { ...failure, class: "relay_denied" } : failure }
}

/** Replies of RFC 4954: authentication is required, too weak, or failed. */
const LOGIN_CODES = [530, 534, 535, 538]

const isLoginRejected = ({ code, reply }: SmtpError): boolean =>
  code === "EAUTH" || LOGIN_CODES.includes(reply?.code ?? 0)

const RELAY_DENIED =
  /relay(ing)? (access |is )*(denied|not (permitted|allowed|authorized)|prohibited)|\b(not (permitted|allowed|authorized)|unable|denied) to relay|allowed rcpthosts|authentication (is )?required|must (first )?(be )?(authenticated?|log ?in)|client was not authenticated/i

/** Describes an SMTP failure by codes only, because the server's text may contain an address. */
const smtpFailure = (error: SmtpError): MailFailure => {
  const { code, originalCode, command, reply } = error
  if (reply !== undefined) {
    const codes = [reply.code, STATUS.exec(reply.text)?.[0]].join(" ").trimEnd()
    const named = isLoginRejected(error) ? "login" : command === "STARTTLS" ? "tls" : "rejected"
    return { class: named, code: `${codes} to ${command}` }
  }
  const name = originalCode ?? code
  if (code === "EAUTH") return { class: "login", code: name }
  if (code === "ETLS") return { class: "tls", code: "no STARTTLS" }
  if (code === "EPROTOCOL") return { class: "protocol", code: `${name} at ${command}` }
  if (code === "ETIMEDOUT") return { class: isOfMessage(command) ? "slow" : "timeout", code: `${name} at ${command}` }
  const fallback = code === "ECONNECTION" ? "reset" : "unknown"
  return { class: NETWORK_CLASSES[networkFailure({ code: name })] ?? fallback, code: name }
}

const isOfMessage = (command: string): command is "RCPT TO" | "DATA" => command === "RCPT TO" || command === "DATA"

const NETWORK_CLASSES: Readonly<Record<string, MailFailure["class"]>> = {
  ...{ unresolved_name: "dns", connect_timeout: "timeout", tls: "tls", refused: "refused", reset: "reset" },
}

const LOGIN_TIMEOUTS = { ...INTERACTIVE_TIMEOUTS, connectMs: 5000, replyMs: 5000 }

/** Connects to the SMTP server and logs in without sending a message. Returns the reached step, or fails with the failure's codes. */
export const logIn = (url: Redacted.Redacted) =>
  Effect.tryPromise({
    try: async () => {
      const options = parseConnectionUrl(Redacted.value(url)) as SmtpOptions
      const session = await SmtpSession.open(options, LOGIN_TIMEOUTS)
      const { isEncrypted, isLoggedIn } = session
      session.quit()
      const { auth, host = "localhost" } = options
      return { isEncrypted, isLoggedIn, hasCredentials: auth !== undefined, host }
    },
    catch: (error) => smtpFailure(error as SmtpError),
  })
