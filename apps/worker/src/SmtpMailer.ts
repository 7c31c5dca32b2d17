import { Mailer, type MailOutcome } from "@outreach/domain/outreach/Mailer"
import { Effect, Layer, Option, Redacted } from "effect"
import { compile } from "html-to-text"
import { createTransport } from "nodemailer"
import { type MailFailure, mailOutcome } from "./mailOutcome.ts"
import type { Sender } from "./WorkerConfig.ts"
import { workerLimits } from "./workerLimits.ts"

// Compiled once: the selectors cost as much as the conversion.
const toText = compile({ wordwrap: false, selectors: [{ selector: "img", format: "skip" }] })

/** Sends over SMTP on kept connections, the HTML with a text alternative. */
export const SmtpMailer = (options: {
  readonly url: Redacted.Redacted
  readonly from: Sender
  /** Default 30 s. */
  readonly callMs?: number
}) =>
  Layer.effect(
    Mailer,
    Effect.gen(function* () {
      const { url, from, callMs = workerLimits.messages.callMs } = options
      const transport = yield* Effect.acquireRelease(
        Effect.sync(() =>
          createTransport({
            url: Redacted.value(url),
            pool: true,
            maxConnections: workerLimits.messages.atOnce,
            // The message queue tries again, not the pool.
            maxRequeues: 0,
            connectionTimeout: 10_000,
            greetingTimeout: 10_000,
            dnsTimeout: 10_000,
            socketTimeout: callMs,
            disableFileAccess: true,
            disableUrlAccess: true,
          }),
        ),
        (transport) => Effect.sync(() => transport.close()),
      )
      return {
        send: (mail) =>
          Effect.tryPromise({
            try: (signal) =>
              transport.sendMail({
                from: { ...from },
                // An object, because a text would be parsed, and one address taken for several.
                to: { name: "", address: mail.to },
                subject: mail.subject,
                html: mail.html,
                text: toText(mail.html),
                messageId: mail.messageId,
                signal,
              }),
            catch: (error) => mailOutcome((error ?? {}) as MailFailure),
          }).pipe(
            Effect.match({ onSuccess: (): MailOutcome => ({ _tag: "Accepted" }), onFailure: (outcome) => outcome }),
            Effect.timeoutOption(callMs),
            Effect.map(Option.getOrElse((): MailOutcome => ({ _tag: "Unreachable" }))),
          ),
      }
    }),
  )
