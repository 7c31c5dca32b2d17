import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { publishSent } from "./publishSent.ts"
import { runOnDatabase } from "./runOnDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"
import { whileOpen } from "./whileOpen.ts"

// One connection for the transaction that stays open, and one for all else.
const run = runOnDatabase({ maxConnections: 2 })

const claim = Effect.flatMap(DeliveryQueue, (queue) =>
  queue.claim({ limit: 1, perEndpoint: 1000, inAll: 1000, leaseSeconds: 60 }),
)
const recoverLost = Effect.flatMap(DeliveryQueue, (queue) => queue.recoverLost)

it("a claim and a recovery read nothing of the leases that ended, though an open transaction keeps all that remains of them", () =>
  run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { campaign, endpoint, organization } = yield* seedCampaign({ recipients: 0 })
      const [eventId] = yield* publishSent(campaign, 1)
      const reading = Effect.andThen(
        sql`set transaction isolation level repeatable read`,
        sql`select count(*) from deliveries`,
      )
      const [claims, recovery] = yield* whileOpen(reading, () =>
        Effect.gen(function* () {
          yield* sql`
            insert into deliveries (organization_id, endpoint_id, event_id, due_at, lease_until, leased_at)
            select ${organization.id}, ${endpoint.id}, ${eventId}, clock_timestamp(),
              clock_timestamp() + interval '30 seconds', clock_timestamp()
            from generate_series(1, 20000)`
          yield* sql`delete from deliveries where lease_until is not null`
          yield* claim
          yield* publishSent(campaign, 5)
          const leases = yield* blocksRead(
            "deliveries",
            Effect.forEach([1, 2, 3, 4, 5], () => claim),
          )
          return [leases, yield* blocksRead("deliveries", recoverLost)] as const
        }),
      )
      expect(claims[1].flat()).toHaveLength(5)
      expect(claims[0]).toBeLessThan(500)
      expect(recovery[0]).toBeLessThan(60)
    }),
  ))
