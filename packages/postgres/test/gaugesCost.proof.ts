import { DeliveryGauges } from "@outreach/domain/deliveries/DeliveryGauges"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

const run = runOnDatabase({ maxConnections: 1 })
const read = Effect.flatMap(DeliveryGauges, ({ readDue, readState }) => Effect.all([readDue, readState]))

it("the gauges look at nothing that waits for its time, and count what is due no further than they say", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { campaign, endpoint, organization } = yield* seedCampaign({ recipients: 0 })
      const [eventId] = yield* publishSent(campaign, 1)
      const wait = (count: number, seconds: number) => sql`
        insert into deliveries (organization_id, endpoint_id, event_id, due_at, replay, from_log)
        select ${organization.id}, ${endpoint.id}, ${eventId}, clock_timestamp() + make_interval(secs => ${seconds}::int), n % 3 = 0, true
        from generate_series(1, ${count}::int) n`
      // As often as it takes the database to settle on its plan.
      const cost = Effect.gen(function* () {
        const reads = yield* Effect.all(Array.from({ length: 12 }, () => blocksRead("deliveries", read)))
        const [, [{ deliveries: due }]] = reads.at(-1)!
        return {
          blocks: Math.max(...reads.slice(-4).map(([blocks]) => blocks)),
          count: due.live.count + due.replay.count,
        }
      })
      yield* wait(30_000, 3600)
      yield* sql`vacuum analyze deliveries`
      const retries = yield* cost
      expect(retries.count).toBe(1)
      expect(retries.blocks).toBeLessThan(60)

      yield* wait(30_000, -3600)
      yield* sql`vacuum analyze deliveries`
      // Each queue as far as is counted.
      expect((yield* cost).count).toBe(20_000)
    }),
  ))
