import { Mailer, type MailOutcome } from "@outreach/domain/outreach/Mailer"
import type { Sender } from "@outreach/mail/mailFrom"
import { mimeMessage } from "@outreach/mail/mimeMessage"
import { Clock, Effect, Layer, Redacted, Semaphore } from "effect"
import { createTransport } from "nodemailer"
import { type MailFailure, mailOutcome } from "./mailOutcome.ts"
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

/** Sends over SMTP on kept connections. */
export const SmtpMailer = (options: {
  readonly url: Redacted.Redacted
  readonly from: Sender
  /** Default: unsigned. */
  readonly dkim?: DkimOptions | null
  /** Default 30 s. */
  readonly callMs?: number
}) =>
  Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { url, from, dkim = null, callMs = workerLimits.messages.callMs } = options
      const transport = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createTransport({
            url: Redacted.value(url),
            pool: true,
            maxConnections: workerLimits.messages.connections,
            // The message queue tries again, not the pool.
            maxRequeues: 0,
            connectionTimeout: 10_000,
            greetingTimeout: 10_000,
            dnsTimeout: 10_000,
            socketTimeout: callMs,
            ...(dkim && {
              dkim: {
                domainName: dkim.domain,
                keySelector: dkim.selector,
                privateKey: Redacted.value(dkim.key),
                headerFieldNames: SIGNED_HEADERS,
              },
            }),
          }),
        ),
        (transport) => Effect.sync(() => transport.close()),
      )
      // Here rather than in the pool, so that waiting for a connection is no part of the call's time.
      const connections = yield* Semaphore.make(workerLimits.messages.connections)
      const clock = yield* Clock.Clock
      return {
        send: (mail, beginBy) =>
          connections.withPermit(
            Effect.callback<MailOutcome>((resume) => {
              if (clock.currentTimeNanosUnsafe() > beginBy) return resume(Effect.succeed({ _tag: "Late" }))
              const message = mimeMessage(mail, from)
              const call = new AbortController()
              const end = (outcome: MailOutcome) => {
                clearTimeout(deadline)
                resume(Effect.succeed(outcome))
              }
              const deadline = setTimeout(() => {
                end({ _tag: "Unreachable" })
                call.abort()
              }, callMs)
              transport
                .sendMail({
                  ...message,
                  // Those who relay are asked for failures alone, and for no copy of the message (RFC 3461).
                  dsn: { ret: "headers", notify: ["failure"], orcpt: `rfc822;${mail.to}` },
                  signal: call.signal,
                })
                .then(
                  () => end({ _tag: "Accepted" }),
                  (error: MailFailure | undefined) => end(mailOutcome(error ?? {})),
                )
              return Effect.sync(() => {
                clearTimeout(deadline)
                call.abort()
              })
            }),
          ),
      }
    }),
  )
