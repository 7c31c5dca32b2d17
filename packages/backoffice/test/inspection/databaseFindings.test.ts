import { expect, it } from "@effect/vitest"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { testsOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { asRole } from "@outreach/testing/testRoles"
import { Effect, type Layer } from "effect"
import {
  clockFinding,
  explainFailover,
  failoverFinding,
  roleFinding,
  schemaFinding,
} from "../../src/inspection/databaseFindings.ts"

const { test } = testsOnDatabase()

/** Runs an effect on a connection of the operators' role. */
const asOperator = Effect.fnUntraced(function* <A, E>(
  effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof testDatabaseLayer>>>,
) {
  const [server] = yield* sql<{ port: number; database: string }>`
    select inet_server_port() as port, current_database() as database`
  const url = asRole(`postgres://127.0.0.1:${server!.port}/${server!.database}`, "operator")
  return yield* Effect.provide(effect, testDatabaseLayer(url, { maxConnections: 1 }), { local: true })
})

test("the finding about the schema accepts a newer release, and warns if it removed functions of this one", function* () {
  yield* sql`insert into migrations (file, checksum) values ('migrations/9999_later.sql', 'of a later release')`
  expect((yield* schemaFinding).status).toBe("ok")
  yield* sql`update migrations set file = 'functions/make_id_2.sql' where file = 'functions/make_id.sql'`
  expect(yield* schemaFinding).toMatchObject({
    ...{ status: "warning", found: expect.stringMatching(/without these functions of this release: make_id\.$/) },
  })
  yield* sql`update migrations set file = 'functions/make_id.sql' where file = 'functions/make_id_2.sql'`
  yield* sql`delete from migrations where file = 'migrations/9999_later.sql'`
})

test("the finding about the role reports missing and excess rights of the role", function* () {
  expect((yield* asOperator(roleFinding)).found).toMatch(/has the rights of operator; it owns 0 of \d+ tables/)
  const role = sql("outreach_test_operator")
  yield* sql`revoke update on campaigns from ${role}`
  expect(yield* asOperator(roleFinding)).toMatchObject({
    status: "failed",
    found: "The role outreach_test_operator lacks 1 right of its kind: update on campaigns.",
  })
  yield* sql`grant update on campaigns to ${role}`
  expect(yield* roleFinding).toMatchObject({ status: "warning", found: expect.stringContaining("superuser") })
})

test("the finding about the clock reports an organization's clock that is ahead", function* () {
  yield* seedCampaign({ recipients: 0 })
  yield* sql`update organization_clock set last = clock_timestamp() + interval '1 hour'`
  expect(yield* clockFinding).toMatchObject({
    status: "warning",
    found: expect.stringMatching(/(hour|minutes).* ahead of the database's\.$/),
  })
})

test("the finding about FAILOVER_SECONDS warns if no standby is synchronous, or the role can't see them", function* () {
  expect(yield* failoverFinding(120)).toMatchObject({
    status: "warning",
    found: expect.stringContaining("a standby that may be promoted is not in synchronous_standby_names."),
  })
  expect(yield* asOperator(failoverFinding(120))).toMatchObject({
    status: "warning",
    found: expect.stringContaining("may not see which standbys are synchronous"),
  })
})

it.each([
  ["", false, "ok", "the standby may be asynchronous"],
  ["ANY 1 (db_b, db_c)", false, "warning", "the workers wait for `ops restores finish --promoted`"],
  ["db_b", true, "failed", "writes are blocked"],
])(
  "the finding about FAILOVER_SECONDS=0 with the synchronous standbys %j, of which commits wait for one: %s, is %s",
  (synchronousStandbys, commitsWait, status, found) => {
    expect(explainFailover(0, { synchronousStandbys, commitsWait, standbys: null })).toMatchObject({
      ...{ status, found: expect.stringContaining(found) },
    })
  },
)
