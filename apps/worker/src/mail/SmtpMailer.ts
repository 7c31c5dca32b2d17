import { cleanSmtpReply } from "@outreach/domain/mail/cleanSmtpReply"
import { type Mail, Mailer, type MailOutcome, type SendingLease } from "@outreach/domain/mail/Mailer"
import { composerOf } from "@outreach/mail/messageComposer"
import { type SmtpOptions, SmtpSession, type SmtpTimeouts } from "@outreach/mail/SmtpSession"
import { Effect, Layer, Redacted } from "effect"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { workerLimits } from "../workerLimits.ts"
import { mailOutcome, type SmtpFailure } from "./mailOutcome.ts"
import { type SmtpConnection, SmtpConnections } from "./SmtpConnections.ts"

/** How many messages a connection sends before it is replaced. */
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
            const { envelope, text } = await composerOf(mail.sender)(mail)
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
