import { adviceOn, describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const url = migratedDatabase()
const PASSWORD = "hunter2"

type Attempt = (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>
const select: Attempt = (sql) => sql`select from migrations`

/** Describes the result of a statement on a separate connection. */
const described = (address: string, attempt = select) =>
  Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, attempt).pipe(
      Effect.provide(testDatabaseLayer(address)),
      Effect.flip,
      Effect.map(describeDatabaseError),
    ),
  )

const changed = (change: (address: URL) => void): string => {
  const address = new URL(url())
  change(address)
  return address.href
}

/** Runs a statement as the superuser. */
const execute = (statement: string) =>
  Effect.runPromise(
    Effect.provide(
      SqlClient.SqlClient.use((sql) => sql.unsafe(statement)),
      testDatabaseLayer(url()),
    ),
  )

describe("an error of PostgreSQL", () => {
  const role = `described_${process.pid}`
  const asRole = () =>
    changed((address) => {
      address.username = role
      address.password = PASSWORD
    })
  beforeAll(async () => {
    await execute(`create role ${role} login password '${PASSWORD}'`)
    await execute(`grant usage on schema public to ${role}`)
  })
  afterAll(async () => {
    await execute(`drop owned by ${role}`)
    await execute(`drop role ${role}`)
  })

  it.each<[code: string, address: () => string, advice: RegExp, attempt?: Attempt]>([
    ["28P01", () => changed((address) => Object.assign(address, { password: PASSWORD })), /password of DATABASE_URL/],
    ["28P01", () => changed((address) => Object.assign(address, { username: "nobody" })), /user or the password/],
    ["3D000", () => changed((address) => Object.assign(address, { pathname: "/hunter2" })), /no database of the name/],
    ["42501", asRole, /lacks a right/],
    [
      "25006",
      () => changed((address) => address.searchParams.set("options", "-c default_transaction_read_only=on")),
      /read-only/,
      (sql) => sql`delete from migrations`,
    ],
    ["22023", url, /look at the server's log/, (sql) => sql`select set_config('statement_timeout', '-5', false)`],
    [
      "57014",
      url,
      /time limit/,
      (sql) => sql.withTransaction(Effect.andThen(sql`set local statement_timeout = 1`, sql`select pg_sleep(60)`)),
    ],
  ])("has the SQLSTATE %s and what to do", async (code, address, advice, attempt) => {
    const fault = await described(address(), attempt)
    expect(fault).toEqual({ code, advice: expect.stringMatching(advice) })
    expect(JSON.stringify(fault)).not.toMatch(/hunter2|127\.0\.0\.1|described_|postgres:/)
  })

  it.each([
    ["53300", `alter role ${role} connection limit 0`, `alter role ${role} connection limit -1`, /no connection left/],
    ["28000", `alter role ${role} nologin`, `alter role ${role} login`, /may not log in; allow it/],
  ])("has the SQLSTATE %s after %s", async (code, breakIt, mendIt, advice) => {
    await execute(breakIt)
    expect(await described(asRole())).toEqual({ code, advice: expect.stringMatching(advice) })
    await execute(mendIt)
  })
})

it.each([
  ["ECONNREFUSED", /nothing listens/],
  ["ENOTFOUND", /does not resolve/],
  ["ETIMEDOUT", /silent/],
  ["ECONNRESET", /closed/],
  ["57P03", /starting/],
  ["08P01", /pooler/],
  ["EPROTO", /not PostgreSQL/],
  ["NO_PASSWORD", /holds none/],
  ["TLS_REFUSED", /offers no TLS/],
  ["DATABASE_URL", /cannot be used/],
  ["ENOENT", /socket/],
  ["SELF_SIGNED_CERT_IN_CHAIN", /does not trust/],
  ["CERT_HAS_EXPIRED", /renew/],
  ["CERT_NOT_YET_VALID", /clocks/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /another host/],
  ["ERR_SSL_NO_PROTOCOLS_AVAILABLE", /TLS/],
])("the code %s has the advice %s", (code, advice) => {
  expect(adviceOn(code)).toMatch(advice)
})
