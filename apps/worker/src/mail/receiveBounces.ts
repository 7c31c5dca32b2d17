import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { BounceRepository } from "@outreach/domain/mail/BounceRepository"
import { reportBounce } from "@outreach/domain/mail/Bounces"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import type { Transaction } from "@outreach/domain/Transaction"
import { Effect, Metric } from "effect"
import type { SecureRandom } from "effect/crypto"
import { SMTPServer, type SMTPServerDataStream } from "smtp-server"
import { metrics } from "../admin/metrics.ts"
import { logFailure } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"
import { readDeliveryReport } from "./readDeliveryReport.ts"

/** Receives bounces over SMTP until interrupted: mail to the return path of a message that we sent, and to nothing else. */
export const receiveBounces = Effect.fnUntraced(function* (options: { readonly host: string; readonly port: number }) {
  const returnPaths = yield* ReturnPaths
  const run = Effect.runPromiseWith(yield* Effect.context<BounceRepository | SecureRandom.SecureRandom | Transaction>())
  const streams = new Set<SMTPServerDataStream>()
  const server = yield* Effect.acquireRelease(
    Effect.sync(
      () =>
        new SMTPServer({
          ...workerLimits.bounces.server,
          rejectOversized: true,
          hideENHANCEDSTATUSCODES: false,
          // What comes from the relay beside us; offered with a certificate that nobody trusts, it would protect nothing.
          disabledCommands: ["AUTH", "STARTTLS"],
          disableReverseLookup: true,
          onRcptTo: ({ address }, _, done) =>
            done(returnPaths.read(address) === undefined ? smtpError(550, "No such return path") : null),
          onData: (stream, session, done) => {
            const recipients = session.envelope.rcptTo.flatMap(({ address }) => returnPaths.read(address) ?? [])
            const finish = (rejection: Error | null) => {
              done(rejection)
              // Nobody reads the rest of a message that was left.
              if (!stream.readableEnded) {
                for (const connection of server.connections) if (connection.session === session) connection.close()
              }
            }
            run(receive(stream, recipients, streams)).then(finish, () => finish(smtpError(451, "Not now")))
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

/** Handles one message; returns why it is rejected, or null. The server itself rejects one that is too large. */
const receive = Effect.fnUntraced(
  function* (
    stream: SMTPServerDataStream,
    recipients: ReadonlyArray<Parameters<typeof reportBounce>[0]>,
    streams: Set<SMTPServerDataStream>,
  ) {
    const raw = yield* Effect.promise(() => readMessage(stream, streams))
    if (raw === undefined) return smtpError(451, "Too many messages at once")
    const verdict = yield* Effect.promise(() => readDeliveryReport(raw))
    if (verdict === undefined) {
      yield* Metric.update(metrics.bounceReports.ignored, 1)
      return null
    }
    for (const recipientId of recipients) {
      const result = yield* reportBounce(recipientId, verdict)
      // The report was faster than our record of the message's acceptance.
      if (result === "early") return smtpError(451, "Try again later")
      yield* Metric.update(metrics.bounceReports[result], 1)
      const about = { recipientId, result, ...(verdict._tag === "Refused" && { status: verdict.status }) }
      yield* (result === "refused" ? Effect.logWarning : Effect.logDebug)("bounce reported").pipe(
        Effect.annotateLogs(about),
      )
    }
    return null
  },
  Effect.catchCause((cause) => Effect.as(logFailure("bounce failed", cause), smtpError(451, "Not now"))),
  (handled, stream, _, streams) =>
    Effect.ensuring(
      handled,
      Effect.sync(() => streams.delete(stream)),
    ),
)

/** Reads a message until it, or all messages in `streams` together, exceed their bound: then undefined, and the stream is destroyed. */
const readMessage = async (
  stream: SMTPServerDataStream,
  streams: Set<SMTPServerDataStream>,
): Promise<Buffer | undefined> => {
  streams.add(stream)
  const chunks: Buffer[] = []
  for await (const chunk of stream) {
    let held = 0
    for (const { byteLength } of streams) held += byteLength
    if (stream.sizeExceeded || held > workerLimits.bounces.maxHeldBytes) return undefined
    chunks.push(chunk)
  }
  return stream.sizeExceeded ? undefined : Buffer.concat(chunks)
}

const smtpError = (responseCode: number, message: string) => Object.assign(new Error(message), { responseCode })
