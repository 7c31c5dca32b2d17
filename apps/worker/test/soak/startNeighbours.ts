import { setTimeout } from "node:timers/promises"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { killableDatabase } from "./killableDatabase.ts"
import { startFleet } from "./startFleet.ts"
import { startPartner } from "./startPartner.ts"

/** Starts partners that answer nothing, and partners that answer at once, and two workers that deliver to all of them. */
export const startNeighbours = async (options: {
  readonly hanging: number
  readonly healthy: number
  readonly callSeconds: number
  /** Called when a request comes to one that is healthy, with the milliseconds since its event was published. */
  readonly arrived?: (millis: number) => void
}) => {
  const { callSeconds, arrived = () => {} } = options
  await using starting = new AsyncDisposableStack()
  const database = await killableDatabase()
  starting.defer(database.remove)
  const runtime = ManagedRuntime.make(adaptersFor(database.url))
  starting.defer(() => runtime.dispose())

  const start = async (kind: "fast" | "hanging") => {
    const partner = await startPartner(kind, {
      callMs: callSeconds * 1000,
      ...(kind === "fast" && {
        arrived: (emittedAt: number) => arrived(performance.timeOrigin + performance.now() - emittedAt),
      }),
    })
    starting.defer(partner.close)
    const { campaign, secret } = await runtime.runPromise(seedCampaign({ recipients: 0, endpointUrl: partner.url }))
    partner.trust(Redacted.value(secret))
    return { ...partner, publish: (count: number) => runtime.runPromise(publishTogether(campaign, count)) }
  }
  const sick = []
  for (let i = 0; i < options.hanging; i++) sick.push(await start("hanging"))
  const healthy = []
  for (let i = 0; i < options.healthy; i++) healthy.push(await start("fast"))

  const fleet = startFleet({
    databaseUrl: database.url,
    settings: {
      WEBHOOK_CALL_SECONDS: String(callSeconds),
      DRAIN_SECONDS: "0",
    },
    skews: [0, 0],
    died: () => {},
  })
  starting.defer(fleet.stop)
  const running = starting.move()
  return {
    sick,
    healthy,
    /** Waits until nothing is queued, and no endpoint taken for sick. */
    rest: async () => {
      const busy = Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [row] = yield* sql<{ busy: boolean }>`
          select exists (select from deliveries) or exists (
            select from endpoint_readers reader join reader_positions using (endpoint_id)
            where cardinality(open) > 0 or allowance is not null or exists (
              select from events
              where organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id))
          ) as busy`
        return row!.busy
      })
      while (await runtime.runPromise(busy)) await setTimeout(50)
    },
    stop: () => running.disposeAsync(),
  }
}
