import { cleanSmtpReply } from "@outreach/domain/mail/cleanSmtpReply"
import type { MailFailure } from "@outreach/domain/mail/Mailer"
import { type Mail, Mailer, type MailOutcome, type SendingLease } from "@outreach/domain/mail/Mailer"
import { classifySmtpReply, STATUS } from "@outreach/mail/classifySmtpReply"
import { createComposers } from "@outreach/mail/messageComposer"
import type { SmtpError } from "@outreach/mail/SmtpError"
import { type SmtpOptions, SmtpSession, type SmtpTimeouts } from "@outreach/mail/SmtpSession"
import { networkFailure } from "@outreach/webhooks/networkFailure"
import { Effect, Layer, Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { workerLimits } from "../workerLimits.ts"
import { type SmtpConnection, SmtpConnections } from "./SmtpConnections.ts"

const MAX_MESSAGES_PER_CONNECTION = 100

/** Sends over SMTP with kept connections. */
export const SmtpMailer = (options: {
  readonly url: Redacted.Redacted
  /** Defaults: RFC 5321, 4.5.3.2. */
  readonly timeouts?: Partial<SmtpTimeouts>
}) =>
  Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { url } = options
      const { connections: size, maxConnectionsPerCampaign, timeouts } = workerLimits.messages
      const smtpOptions = parseConnectionUrl(Redacted.value(url)) as SmtpOptions
      const composerOf = createComposers()
      const waits = { ...timeouts, ...options.timeouts }
      const connections = yield* Effect.acquireRelease(
        Effect.sync(() => new SmtpConnections(size, maxConnectionsPerCampaign)),
        (connections) => Effect.sync(() => connections.close()),
      )

      /** Sends a message on a free connection, after opening it if necessary. */
      const transmit = async (connection: SmtpConnection, mail: Mail, lease: SendingLease): Promise<MailOutcome> => {
        while (true) {
          const kept = connection.session?.isOpen ? connection.session : undefined
          connection.session = kept
          let session = kept
          try {
            const { envelope, text } = composerOf(mail.sender)(mail)
            if (session === undefined) {
              session = await SmtpSession.open(smtpOptions, waits)
              connection.session = session
            }
            const reply = await session.send(envelope, text, lease.isHeld)
            if (session.sentMessages >= MAX_MESSAGES_PER_CONNECTION) session.quit()
            return { _tag: "Accepted", reply: cleanSmtpReply(reply, mail.to) }
          } catch (error) {
            const failure = (error ?? {}) as SmtpFailure
            if (failure.code === "ELEASE") return { _tag: "Late" }
            // A kept connection that the server closed, or that is out of step, isn't evidence about this message.
            const isStale = STALE.includes(failure.code) || failure.responseCode === 421
            if (kept !== undefined && !kept.isMessageBegun && isStale) {
              kept.close()
              continue
            }
            const outcome = mailOutcome(failure, {
              isLoggedIn: session?.isLoggedIn ?? false,
              isMessageSent: session?.isMessageSent ?? false,
            })
            return withReply(outcome, failure, mail)
          }
        }
      }
      return {
        send: (compose, lease, record) =>
          Effect.acquireUseRelease(
            Effect.interruptible(connections.take(lease)),
            (turn) => {
              if (turn === undefined) return record({ _tag: "Late" })
              const { connection } = turn
              lease.begin()
              return Effect.flatMap(compose, (mail) =>
                Effect.callback<MailOutcome>((resume) => {
                  transmit(connection, mail, lease).then(
                    (outcome) => resume(Effect.succeed(outcome)),
                    (error) => resume(Effect.die(error)),
                  )
                  return Effect.sync(() => connection.session?.close())
                }),
              ).pipe(
                Effect.onInterrupt(() =>
                  connection.session?.isMessageSent
                    ? record({ _tag: "Unknown", failure: { class: "stopped", code: "STOPPED" } })
                    : Effect.void,
                ),
                Effect.tap(() => Effect.sync(() => connections.release(turn))),
                Effect.flatMap(record),
              )
            },
            (turn) => Effect.sync(() => turn && connections.recorded(turn)),
          ),
      }
    }),
  )

const STALE: ReadonlyArray<unknown> = ["ECONNECTION", "ESOCKET", "EPROTOCOL"]

/** Adds the server's reply if it judged the message. Other failures have codes. */
const withReply = (outcome: MailOutcome, { response }: SmtpFailure, { to }: Mail): MailOutcome =>
  typeof response !== "string" || "failure" in outcome || outcome._tag === "Late"
    ? outcome
    : { ...outcome, reply: cleanSmtpReply(response, to) }

/** Session data about a rejected message. */
export type SmtpFailure = Partial<Pick<SmtpError, "code" | "originalCode" | "command" | "responseCode" | "response">>

/** Progress of the session. */
interface SmtpProgress {
  readonly isLoggedIn: boolean
  /** The final dot may have been sent, and its reply was pending. */
  readonly isMessageSent: boolean
}

/** Determines the outcome of a message that wasn't accepted. */
export const mailOutcome = (error: SmtpFailure, { isLoggedIn, isMessageSent }: SmtpProgress): MailOutcome => {
  const { code, command, responseCode, response } = error
  // Before any command was sent: the protocol can't express the address.
  if (command === "API" && code === "EENVELOPE") return { _tag: "Bounced", reason: "address_invalid" }
  // The mailbox may be valid, so its address isn't suppressed. Another attempt would reach the same server.
  if (code === "ESMTPUTF8") return { _tag: "Bounced", reason: "other", lacking: "SMTPUTF8" }
  if (responseCode === undefined) {
    return { _tag: isMessageSent ? "Unknown" : "Unreachable", failure: failureWithoutReply(error) }
  }
  const text = response ?? ""
  // 503 is about the order of commands, even in reply to these two.
  const isAboutMessage = (command === "RCPT TO" || command === "DATA") && responseCode !== 503
  const isLogin = code === "EAUTH" || LOGIN_CODES.includes(responseCode)
  const isRelayDenied = isAboutMessage && !isLoggedIn && RELAY_DENIED.test(text)
  if (isAboutMessage && !isLogin && !isRelayDenied) return classifySmtpReply({ code: responseCode, text, at: command })
  // A server that rejects other commands, or us as a client, accepts no message for any recipient.
  const codes = [responseCode, STATUS.exec(text)?.[0]].join(" ").trimEnd()
  return {
    _tag: "Unreachable",
    failure: {
      class: isLogin ? "login" : isRelayDenied ? "relay_denied" : command === "STARTTLS" ? "tls" : "rejected",
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
  if (code === "ETLS") return { class: "tls", code: "no STARTTLS" }
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
