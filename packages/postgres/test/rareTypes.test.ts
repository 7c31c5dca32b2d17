import { describe, expect } from "@effect/vitest"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { effectTest } from "@outreach/testing/effectTest"
import { inTransaction } from "@outreach/testing/inTransaction"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { keepStatistics } from "./keepStatistics.ts"

const test = effectTest(runOnDatabase())

/** Counts the rows of events that an effect reads, in all partitions. */
const rowsRead = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  inTransaction(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql`select set_config('plan_cache_mode', 'force_custom_plan', true)`
      const read = Effect.map(
        sql<{ rows: number }>`
          select sum(seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
          where relid in (select inhrelid from pg_inherits where inhparent = 'events'::regclass)`,
        (rows) => rows[0]?.rows ?? 0,
      )
      const before = yield* read
      const result = yield* effect
      return [(yield* read) - before, result] as const
    }),
  )

describe("events of a rare type among 20,000 others", () => {
  test("are read without the others, by the feed, by an endpoint and by a replay", function* () {
    const sql = yield* SqlClient.SqlClient
    yield* keepStatistics("events")
    const { organization, campaign, endpoint } = yield* seedCampaign({ recipients: 0 })
    yield* updateEndpoint(endpoint.id, { eventTypes: ["outreach.email_bounced"] }, { allowPrivate: true })
    yield* sql`
      insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
      select ${organization.id}, 'evt_' || lpad(to_hex(n), 32, '0'),
        case when n % 5000 = 0 then 'outreach.email_bounced' else 'outreach.email_sent' end, ${campaign.id}, ${campaign.programId},
        clock_timestamp(), clock_timestamp(), '{}'
      from generate_series(1, 20000) n`
    yield* sql`analyze events`

    const since = "2026-01-01T00:00:00.000000Z" as Timestamp
    const { page } = yield* EventFeed
    const [byFeed, events] = yield* rowsRead(
      Effect.map(page(organization.id, ["outreach.email_bounced"], feedFrom(since), 100), ({ rows }) => rows),
    )
    expect(events).toHaveLength(4)
    expect(byFeed).toBeLessThan(20)

    const { token } = yield* workerOn()
    const leases = yield* DeliveryLeases
    yield* leases.heartbeat(token, 30)
    yield* leases.acquire(token, 1000)
    const [byEndpoint, deliveries] = yield* rowsRead(leases.read(token, [{ endpointId: endpoint.id, limit: 32 }]))
    expect(deliveries).toHaveLength(4)
    expect(byEndpoint).toBeLessThan(20)

    const [byReplay, found] = yield* rowsRead(
      sql`select from events_after(${organization.id}, array['outreach.email_bounced'], ${since}::timestamptz, '', 'infinity', 100)`,
    )
    expect(found).toHaveLength(4)
    expect(byReplay).toBeLessThan(20)
  })
})
