import type { RecipientId } from "@outreach/domain/Identifier"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { afterTests } from "@outreach/testing/afterTests"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { value } from "@outreach/testing/sql"
import type { AtEnd } from "@outreach/testing/startProcess"
import type { LogLine } from "@outreach/testing/until"
import { Changes, until } from "@outreach/testing/until"
import { Effect, Fiber, Layer, Logger, References } from "effect"
import { createTransport } from "nodemailer"
import { beforeAll, onTestFinished } from "vitest"
import { receiveBounces } from "../../src/mail/receiveBounces.ts"
import type { journey } from "../journey.ts"

const paths = ReturnPaths.at("bounces.acme.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING)))

export const returnPaths = Effect.runSync(ReturnPaths.pipe(Effect.provide(paths)))

type Run = ReturnType<typeof journey>["run"]

/** Receives bounces until the end of the test. Returns the port, and the log as a source. */
export const startBounceReceiver = async (
  run: Run,
  options: Partial<Parameters<typeof receiveBounces>[0]> = {},
  atEnd: AtEnd = onTestFinished,
) => {
  const log = { changes: new Changes(), lines: [] as Array<LogLine> }
  const logger = Logger.make(({ message, logLevel, fiber }) => {
    const annotations = fiber.getRef(References.CurrentLogAnnotations)
    log.lines.push({ message: String(message), level: logLevel, annotations })
    log.changes.announce()
  })
  const fiber = await run(
    receiveBounces({ host: "127.0.0.1", port: 0, ...options }).pipe(
      Effect.provide(Layer.merge(paths, Logger.layer([logger]))),
      Effect.provideService(References.MinimumLogLevel, "Info"),
      Effect.orDie,
      Effect.forkDetach,
    ),
  )
  atEnd(() => Effect.runPromise(Fiber.interrupt(fiber)))
  const { annotations } = await until(log, "receiving bounces")
  return { ...log, port: annotations["port"] as number }
}

/** Receives bounces for all tests of a file. Returns a function that sends a message and returns the reply. */
export const sharedBounceReceiver = (run: Run) => {
  const atEnd = afterTests()
  let send: ReturnType<typeof sendTo>
  beforeAll(async () => {
    const { port } = await startBounceReceiver(run, {}, atEnd)
    send = sendTo(port)
  })
  return (...message: Parameters<typeof send>) => send(...message)
}

/** Returns a function that sends a message to the receiver's port and returns the reply. */
const sendTo = (port: number) => {
  const transport = createTransport({ host: "127.0.0.1", port, ignoreTLS: true })
  return (to: string | ReadonlyArray<string>, raw: string, from = "") =>
    transport.sendMail({ envelope: { from, to: [to].flat() }, raw }).then(
      ({ response }) => response,
      (error: { response?: string }) => error.response,
    )
}

/** Seeds a campaign with one recipient and a sent message, unless `sentAt` is null. */
export const seedSent = Effect.fnUntraced(function* (sentAt: "now" | null = "now") {
  const { campaign, organization } = yield* seedCampaign({ recipients: 1 })
  const id = yield* value<RecipientId>`
    update recipients set sent_at = ${sentAt}::timestamptz where campaign_id = ${campaign.id} returning id`
  const addresses = { to: returnPaths.of(id), unsubscribe: returnPaths.unsubscribe(id) }
  return { ...addresses, id, campaignId: campaign.id, organizationId: organization.id }
})
