import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { BounceLedger } from "@outreach/domain/outreach/BounceLedger"
import { reportBounce } from "@outreach/domain/outreach/Bounces"
import { ReturnPaths } from "@outreach/domain/outreach/ReturnPaths"
import { Effect, Metric } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SMTPServer, type SMTPServerDataStream } from "smtp-server"
import { logFailure } from "./logFailure.ts"
import { metrics } from "./metrics.ts"
import { readDeliveryReport } from "./readDeliveryReport.ts"
import { workerLimits } from "./workerLimits.ts"

/** Receives bounces over SMTP until interrupted: mail to the return path of a message that we sent, and to nothing else. */
export const receiveBounces = Effect.fnUntraced(function* (options: { readonly host: string; readonly port: number }) {
  const returnPaths = yield* ReturnPaths
  const run = Effect.runPromiseWith(yield* Effect.context<BounceLedger | SecureRandom.SecureRandom>())
  const server = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new SMTPServer({
          ...workerLimits.bounces,
          // What comes from the relay beside us; offered with a certificate that nobody trusts, it would protect nothing.
          disabledCommands: ["AUTH", "STARTTLS"],
          disableReverseLookup: true,
          onRcptTo: ({ address }, _, done) =>
            done(returnPaths.read(address) === undefined ? refusal(550, "5.1.1 No such return path") : null),
          onData: (stream, { envelope }, done) => {
            const recipients = envelope.rcptTo.flatMap(({ address }) => returnPaths.read(address) ?? [])
            run(receive(stream, recipients)).then(
              (refused) => done(refused),
              () => done(refusal(451, "4.3.0 Not now")),
            )
          },
        }),
    ),
    (server) => Effect.callback<void>((resume) => void server.close(() => resume(Effect.void))),
  )
  server.on("error", () => {})
  server.listen(options.port, options.host)
  yield* Effect.tryPromise(() => once(server.server, "listening"))
  const { port } = server.server.address() as AddressInfo
  yield* Effect.logInfo("receiving bounces").pipe(Effect.annotateLogs({ host: options.host, port }))
  return yield* Effect.never
}, Effect.scoped)

/** Acts on one message; answers why it is not taken, or null. */
const receive = Effect.fnUntraced(
  function* (stream: SMTPServerDataStream, recipients: ReadonlyArray<Parameters<typeof reportBounce>[0]>) {
    const raw = Buffer.concat(yield* Effect.promise(() => stream.toArray()))
    if (stream.sizeExceeded) return refusal(552, "5.3.4 Too large")
    const verdict = yield* Effect.promise(() => readDeliveryReport(raw))
    if (verdict === undefined) {
      yield* Metric.update(metrics.bounceReports.ignored, 1)
      return null
    }
    for (const recipientId of recipients) {
      const result = yield* reportBounce(recipientId, verdict)
      // The report was faster than our record of the message's acceptance.
      if (result === "early") return refusal(451, "4.2.0 Try again later")
      yield* Metric.update(metrics.bounceReports[result], 1)
      const about = { recipientId, result, ...(verdict._tag === "Refused" && { status: verdict.status }) }
      yield* (result === "refused" ? Effect.logWarning : Effect.logDebug)("bounce reported").pipe(
        Effect.annotateLogs(about),
      )
    }
    return null
  },
  Effect.catchCause((cause) => Effect.as(logFailure("bounce failed", cause), refusal(451, "4.3.0 Not now"))),
)

const refusal = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })
