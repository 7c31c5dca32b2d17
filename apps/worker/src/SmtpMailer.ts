import { type Mail, Mailer, type MailOutcome, type SendingLease } from "@outreach/domain/outreach/Mailer"
import type { Sender } from "@outreach/mail/mailFrom"
import { mimeMessage } from "@outreach/mail/mimeMessage"
import { Effect, Layer, Redacted } from "effect"
import Dkim from "nodemailer/lib/dkim"
import MailComposer from "nodemailer/lib/mail-composer"
import { parseConnectionUrl } from "nodemailer/lib/shared"
import { mailOutcome } from "./mailOutcome.ts"
import { type SmtpConnection, SmtpConnections } from "./SmtpConnections.ts"
import { type SmtpOptions, SmtpSession, type SmtpTimeouts } from "./SmtpSession.ts"
import { workerLimits } from "./workerLimits.ts"

/** How messages are signed (RFC 6376). */
export interface DkimOptions {
  readonly domain: string
  readonly selector: string
  /** In PEM. */
  readonly key: Redacted.Redacted
}

// RFC 8058 wants both headers of the unsubscription signed, which is one more than nodemailer's own list has.
const SIGNED_HEADERS =
  "From:To:Subject:Date:Message-ID:MIME-Version:Content-Type:Content-Transfer-Encoding:List-Unsubscribe:List-Unsubscribe-Post"

/** How many messages a connection sends before it is replaced. */
const MAX_MESSAGES_PER_CONNECTION = 100

/** Sends over SMTP on kept connections. */
export const SmtpMailer = (options: {
  readonly url: Redacted.Redacted
  readonly from: Sender
  /** Default: unsigned. */
  readonly dkim?: DkimOptions | null
  /** Each defaults to that of RFC 5321 4.5.3.2. */
  readonly timeouts?: Partial<SmtpTimeouts>
}) =>
  Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { url, from, dkim = null } = options
      const { connections: size, maxConnectionsPerCampaign, timeouts } = workerLimits.messages
      const smtpOptions = parseConnectionUrl(Redacted.value(url)) as SmtpOptions
      const waits = { ...timeouts, ...options.timeouts }
      const signer =
        dkim &&
        new Dkim({
          domainName: dkim.domain,
          keySelector: dkim.selector,
          privateKey: Redacted.value(dkim.key),
          headerFieldNames: SIGNED_HEADERS,
        })
      const connections = yield* Effect.acquireRelease(
        Effect.sync(() => new SmtpConnections(size, maxConnectionsPerCampaign)),
        (connections) => Effect.sync(() => connections.close()),
      )

      const compose = (mail: Mail) => {
        const message = new MailComposer(mimeMessage(mail, from)).compile()
        if (signer !== null) message.processFunc((input) => signer.sign(input))
        return message
      }

      /** Sends a message on a connection that is free, and opens it first if need be. */
      const transmit = async (connection: SmtpConnection, mail: Mail, lease: SendingLease): Promise<MailOutcome> => {
        while (true) {
          const kept = connection.session?.isOpen ? connection.session : undefined
          connection.session = kept
          let session = kept
          let isBegun = false
          try {
            if (session === undefined) {
              session = await SmtpSession.open(smtpOptions, waits)
              connection.session = session
            }
            const message = compose(mail)
            const text = message.createReadStream()
            text.once("resume", () => {
              isBegun = true
            })
            // Those who relay are asked for failures alone, and for no copy of the message (RFC 3461).
            const dsn = { ret: "headers", notify: ["failure"], orcpt: `rfc822;${mail.to}` }
            await session.send({ ...message.getEnvelope(), dsn }, text, lease.isHeld)
            if (session.sentMessages >= MAX_MESSAGES_PER_CONNECTION) session.quit()
            return { _tag: "Accepted" }
          } catch (error) {
            const failure = (error ?? {}) as { readonly code?: unknown; readonly responseCode?: unknown }
            if (failure.code === "ELEASE") return { _tag: "Late" }
            // A kept connection that the server had closed meanwhile says nothing of this message.
            const isStale = failure.code === "ECONNECTION" || failure.code === "ESOCKET" || failure.responseCode === 421
            if (kept !== undefined && !isBegun && isStale) {
              kept.close()
              continue
            }
            const outcome = mailOutcome(failure, {
              isLoggedIn: session?.isLoggedIn ?? false,
              isMessageSent: session?.isMessageSent ?? false,
            })
            const used = session
            if (used?.isOpen) await used.reset().catch(() => used.close())
            return outcome
          }
        }
      }
      return {
        send: (mail, lease, record) =>
          Effect.acquireUseRelease(
            Effect.interruptible(connections.take(lease)),
            (connection) => {
              if (connection === undefined) return record({ _tag: "Late" })
              lease.begin()
              return Effect.callback<MailOutcome>((resume) => {
                transmit(connection, mail, lease).then(
                  (outcome) => resume(Effect.succeed(outcome)),
                  (error) => resume(Effect.die(error)),
                )
                return Effect.sync(() => connection.session?.close())
              }).pipe(
                Effect.tap(() => Effect.sync(() => connections.release(connection))),
                Effect.onInterrupt(() =>
                  connection.session?.isMessageSent
                    ? record({ _tag: "Unknown", failure: { class: "stopped", code: "STOPPED" } })
                    : Effect.void,
                ),
                Effect.flatMap(record),
              )
            },
            (connection) => Effect.sync(() => connection && connections.recorded(connection)),
          ),
      }
    }),
  )
