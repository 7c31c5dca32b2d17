import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

const run = runOnDatabase({ maxConnections: 1 })

const claim = Effect.flatMap(DeliveryQueue, (queue) =>
  queue.claim({ limit: 1, perEndpoint: 1000, inAll: 1000, leaseSeconds: 60 }),
)
const recoverLost = Effect.flatMap(DeliveryQueue, (queue) => queue.recoverLost)
/** The blocks of the queue that an effect reads at most, once the database has settled on its plans. */
const cost = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.all(Array.from({ length: 12 }, () => blocksRead("deliveries", effect))), (reads) =>
    Math.max(...reads.slice(-4).map(([blocks]) => blocks)),
  )

it("a claim looks at nothing that waits for its time, and recovery at no lease that still runs", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { campaign, endpoint, organization } = yield* seedCampaign({ recipients: 0 })
      const [eventId] = yield* publishSent(campaign, 1)
      // The waits of retries and of replays, and what others hold.
      yield* sql`
        insert into deliveries (organization_id, endpoint_id, event_id, due_at, replay, lost_leases, lease_until, leased_at)
        select ${organization.id}, ${endpoint.id}, ${eventId}, clock_timestamp() + interval '1 hour', n % 3 = 0, (n % 5 = 0)::int,
          case when n % 7 = 0 then clock_timestamp() + interval '1 hour' end, case when n % 7 = 0 then clock_timestamp() end
        from generate_series(1, 700) as n, generate_series(1, 40)`
      yield* sql`delete from deliveries where event_id = ${eventId} and due_at < clock_timestamp() + interval '1 minute'`
      yield* sql`vacuum analyze deliveries`
      // Those in flight are counted at each claim, and here they are many more than any bound lets be.
      yield* sql`delete from deliveries where lease_until is not null and id not in (
        select id from deliveries where lease_until is not null limit 100)`
      yield* sql`vacuum analyze deliveries`
      yield* publishSent(campaign, 40)
      expect(
        yield* cost(Effect.tap(claim, (leases) => Effect.sync(() => expect(leases).toHaveLength(1)))),
      ).toBeLessThan(300)
      expect(yield* cost(recoverLost)).toBeLessThan(60)
    }),
  ))
