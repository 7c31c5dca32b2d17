import { createConnection, createServer } from "node:net"
import { ReturnPaths } from "@outreach/domain/mail/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { Effect, Layer, References } from "effect"
import { createTransport } from "nodemailer"
import { onTestFinished } from "vitest"
import { receiveBounces } from "../../src/mail/receiveBounces.ts"
import type { journey } from "../journey.ts"

const paths = ReturnPaths.at("bounces.acme.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING)))

export const returnPaths = Effect.runSync(ReturnPaths.pipe(Effect.provide(paths)))

/** Receives bounces until the test is finished; returns the port. */
export const startBounceReceiver = async (
  run: ReturnType<typeof journey>["run"],
  options: Partial<Parameters<typeof receiveBounces>[0]> = {},
): Promise<number> => {
  const probe = createServer()
  const port = await listen(probe)
  probe.close()
  const stop = new AbortController()
  const stopped = run(
    Effect.raceFirst(
      receiveBounces({ host: "127.0.0.1", port, certificate: null, ...options }).pipe(
        Effect.provide(paths),
        Effect.provideService(References.MinimumLogLevel, "None"),
        Effect.orDie,
      ),
      Effect.callback<void>((resume) => stop.signal.addEventListener("abort", () => resume(Effect.void))),
    ),
  )
  onTestFinished(() => {
    stop.abort()
    return stopped
  })
  await eventually(
    () =>
      new Promise<boolean>((resolve) => {
        const socket = createConnection(port, "127.0.0.1", () => socket.end("QUIT\r\n"))
        socket
          .on("error", () => {})
          .on("close", (isBroken) => resolve(!isBroken))
          .resume()
      }),
    (isListening) => isListening,
  )
  return port
}

/** Returns how to send a message to the port of a receiver, which returns the reply. */
export const sendTo = (port: number) => {
  const transport = createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
  return (to: string | ReadonlyArray<string>, raw: string, from = "") =>
    transport.sendMail({ envelope: { from, to: [to].flat() }, raw }).then(
      ({ response }) => response,
      (error: { response?: string }) => error.response,
    )
}
