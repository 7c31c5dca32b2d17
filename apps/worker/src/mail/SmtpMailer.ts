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

/** Sends over SMTP on kept connections. */
export const SmtpMailer = (options: {
  readonly url: Redacted.Redacted
  /** Each defaults to that of RFC 5321 4.5.3.2. */
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

      /** Sends a message on a connection that is free, and opens it first if need be. */
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
            // A kept connection that the server has closed since, or that is out of step, says nothing of this message.
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

/** Adds what the server said, where it judged the message. Other failures are described by codes. */
const withReply = (outcome: MailOutcome, { response }: SmtpFailure, { to }: Mail): MailOutcome =>
  typeof response !== "string" || "failure" in outcome || outcome._tag === "Late"
    ? outcome
    : { ...outcome, reply: cleanSmtpReply(response, to) }

/** What a session knows of a message that was not taken. */
export type SmtpFailure = Partial<Pick<SmtpError, "code" | "originalCode" | "command" | "responseCode" | "response">>

/** How far the session had come. */
interface SmtpProgress {
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
