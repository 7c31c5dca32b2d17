import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { databaseLayer } from "../../src/databaseLayer.ts"
import { migrations } from "../../src/migrate.ts"
import { type Migration, runMigrations } from "../../src/runMigrations.ts"

const url = testDatabase({ name: "empty", sources: [], migrate: async () => {} })
const run = <A, E>(effect: Effect.Effect<A, E, Effect.Services<typeof seedBefore>>) =>
  Effect.runPromise(Effect.provide(effect, databaseLayer({ url: Redacted.make(url()), applicationName: "migrate" })))

const before = Object.fromEntries(
  Object.entries(migrations as Record<string, Migration>).filter(([name]) => name < "0026"),
)

/** A database of the release before, with two endpoints: what waits, what is in flight, what is retried and what is replayed. */
const seedBefore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* runMigrations(before)
  yield* sql`insert into organizations (id, name) values ('org_1', 'Acme')`
  yield* sql`insert into organization_clock (organization_id, last) values ('org_1', '2026-11-21T10:00:00.000009Z')`
  yield* sql`
    insert into webhook_endpoints (id, organization_id, url)
    values ('whe_1', 'org_1', 'https://a.test/'), ('whe_2', 'org_1', 'https://b.test/')`
  yield* sql`insert into endpoint_breakers (endpoint_id, failures, allowance, probe_at) values ('whe_2', 7, 1, '2026-11-21T10:00:01Z')`
  yield* sql`
    insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
    select 'org_1', 'evt_' || n, 'outreach.email_sent', 'cmp_1', 'pgm_1', clock_timestamp(), '2026-11-21T10:00:00.000009Z', '{}'
    from generate_series(1, 4) n`
  yield* sql`
    insert into deliveries (organization_id, id, endpoint_id, event_id, attempts, due_at, replay, lost_leases, lease_token, lease_until, leased_at)
    select 'org_1', 'dlv_' || what, 'whe_1', event, attempts, '2026-11-21T10:00:02Z', replay, lost, token,
      case when token is not null then '2026-11-21T10:01:00Z'::timestamptz end,
      case when token is not null then '2026-11-21T10:00:03Z'::timestamptz end
    from (values
      ('waiting', 'evt_1', 0, false, 0, null::uuid),
      ('retried', 'evt_2', 2, false, 1, null),
      ('leased', 'evt_3', 1, false, 0, gen_random_uuid()),
      ('replay', 'evt_4', 0, true, 0, null)
    ) as row (what, event, attempts, replay, lost, token)`
  yield* sql`
    insert into replay_jobs (set_aside_from, set_aside_to, rate, total, after_at, next_at, created_at)
    values ('2026-11-01', '2026-12-24', 10, 5, '2026-11-01', '2026-11-21', '2026-11-21T09:00:00Z'), (null, null, 10, 5, '-infinity', '2026-11-21', '2026-11-21T09:00:00Z')`
})

describe("the migration to delivery from the log", () => {
  it("keeps every delivery that waits, once, and lets each endpoint begin where its organization's clock stands", () =>
    run(
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* seedBefore
        yield* runMigrations(migrations)
        // Also what was in flight is due, and nobody knows what came of it.
        expect(
          yield* sql`
            select id, attempts, replay, losses, owner, due_at = '2026-11-21T10:00:02Z' as same from deliveries order by id`,
        ).toEqual([
          { id: "dlv_leased", attempts: 1, replay: false, losses: 0, owner: null, same: true },
          { id: "dlv_replay", attempts: 0, replay: true, losses: 0, owner: null, same: true },
          { id: "dlv_retried", attempts: 2, replay: false, losses: 1, owner: null, same: true },
          { id: "dlv_waiting", attempts: 0, replay: false, losses: 0, owner: null, same: true },
        ])
        expect(
          yield* sql`
            select delivery_id, number, outcome, started_at = '2026-11-21T10:00:03Z' as same from delivery_attempts`,
        ).toEqual([{ delivery_id: "dlv_leased", number: 2, outcome: "outcome_unknown", same: true }])
        expect(
          yield* sql`
            select endpoint_id, begun_at = last and begun_id = '~' as at_clock, open, owner, failures, allowance
            from endpoint_readers join organization_clock using (organization_id) order by endpoint_id`,
        ).toEqual([
          { endpoint_id: "whe_1", at_clock: true, open: [], owner: null, failures: 0, allowance: null },
          { endpoint_id: "whe_2", at_clock: true, open: [], owner: null, failures: 7, allowance: 1 },
        ])
        // Nothing of what has its row is read from the log as well.
        expect(
          yield* sql`
            select from endpoint_readers reader
            join events on events.organization_id = reader.organization_id and (emitted_at, id) > (begun_at, begun_id)`,
        ).toEqual([])
        expect(yield* sql`select kind, before_at = least(to_at, created_at) as bounded from replay_jobs`).toEqual(
          Array(2).fill({ kind: "dead_letters", bounded: true }),
        )

        // A process of the release before writes a row for each event and endpoint, as here, and finds nothing to claim with.
        yield* sql`
          insert into deliveries (organization_id, endpoint_id, event_id, due_at) values ('org_1', 'whe_1', 'evt_1', clock_timestamp())`
        yield* sql`
          insert into deliveries (organization_id, id, endpoint_id, event_id, due_at, replay)
          values ('org_1', 'dlv_replayed', 'whe_1', 'evt_1', clock_timestamp(), true)`
        expect(yield* sql`select id from deliveries where id > 'dlv_replay' and id < 'dlv_retried'`).toEqual([
          { id: "dlv_replayed" },
        ])
        expect(yield* sql`select count(*)::int as count from deliveries`).toEqual([{ count: 5 }])
        expect(yield* sql`select from pg_proc where proname = 'claim_deliveries'`).toEqual([])
        expect(yield* sql`select to_regclass('endpoint_breakers')::text as breakers`).toEqual([{ breakers: null }])
      }),
    ))
})
