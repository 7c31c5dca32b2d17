import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { effectTest } from "@outreach/testing/effectTest"
import { publishSent } from "@outreach/testing/publishTogether"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { expect } from "vitest"
import { blocksRead } from "./blocksRead.ts"
import { keepStatistics } from "./keepStatistics.ts"

const test = effectTest(runOnDatabase({ maxConnections: 1 }))
const read = Effect.flatMap(DeliveryGauges, ({ readDue, readState }) => Effect.all([readDue, readState]))

test("the gauges look at nothing that waits for its time, and count what is due no further than they say", function* () {
  const sql = yield* SqlClient.SqlClient
  const { campaign, endpoint, organization } = yield* seedCampaign({ recipients: 0 })
  const [eventId] = yield* publishSent(campaign, 1)
  const wait = (count: number, seconds: number) => sql`
    insert into deliveries (organization_id, endpoint_id, event_id, due_at, replay)
    select ${organization.id}, ${endpoint.id}, ${eventId}, clock_timestamp() + make_interval(secs => ${seconds}::int), n % 3 = 0
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
  yield* keepStatistics("deliveries")
  yield* wait(30_000, 3600)
  yield* sql`vacuum analyze deliveries`
  const retries = yield* cost
  expect(retries.count).toBe(1)
  expect(retries.blocks).toBeLessThan(60)

  yield* wait(30_000, -3600)
  yield* sql`vacuum analyze deliveries`
  // Each queue as far as is counted.
  expect((yield* cost).count).toBe(20_000)
})

test("the gauges read little of a log in which much waits, beside many endpoints that have read all", function* () {
  const sql = yield* SqlClient.SqlClient
  const { campaign, organization } = yield* seedCampaign({ recipients: 0 })
  const [eventId] = yield* publishSent(campaign, 1)
  for (const table of ["events", "endpoint_readers", "reader_positions"]) yield* keepStatistics(table)
  yield* sql`
    insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
    select organization_id, make_id('evt'), type, campaign_id, program_id, occurred_at, emitted_at + n * interval '1 microsecond', ''
    from events cross join generate_series(1, 200000) n where organization_id = ${organization.id} and id = ${eventId!}`
  const ids = sql`select 'org_idle' || n as id from generate_series(1, 30000) n`
  yield* sql`insert into organizations (id, name) select id, 'Idle' from (${ids}) idle`
  yield* sql`insert into organization_clock (organization_id, last) select id, clock_timestamp() - interval '1 day' from (${ids}) idle`
  yield* sql`insert into webhook_endpoints (id, organization_id, url) select 'whe_' || id, id, '' from (${ids}) idle`
  yield* sql`
    insert into endpoint_readers (endpoint_id, organization_id) select 'whe_' || id, id from (${ids}) idle`
  yield* sql`
    insert into reader_positions (organization_id, endpoint_id, begun_at, begun_id)
    select organization_id, 'whe_' || organization_id, last, '~' from organization_clock where organization_id in (${ids})`
  yield* sql`vacuum analyze events`
  yield* sql`vacuum analyze endpoint_readers`
  yield* sql`vacuum analyze reader_positions`
  const reads = yield* Effect.all(Array.from({ length: 12 }, () => blocksRead("events", read)))
  const [blocks, [{ deliveries: due }]] = reads.at(-1)!
  expect([due.live.maxLagEvents, due.live.count]).toEqual([10_000, 10_000])
  // Ten thousand are counted twice: in all, and for the endpoint.
  expect(blocks).toBeLessThan(1000)
})
