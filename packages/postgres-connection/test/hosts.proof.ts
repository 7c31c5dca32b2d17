import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { type Standby, startStandby } from "@outreach/embedded-postgres/startStandby"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/until"
import { Effect, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { afterAll, beforeAll, expect, it } from "vitest"

let primary: Postgres
let standby: Standby
let pool: ManagedRuntime.ManagedRuntime<SqlClient.SqlClient, unknown>
beforeAll(async () => {
  primary = await startPostgres()
  standby = await startStandby(primary, { name: "s1" })
  const { host } = new URL(primary.url)
  const address = primary.url.replace(host, `${new URL(standby.url).host},${host}`)
  const database = databaseAt(`${address}?target_session_attrs=read-write`)
  pool = ManagedRuntime.make(databaseLayer({ database, applicationName: "test", maxConnections: 1 }))
})
afterAll(async () => {
  await pool?.dispose()
  await standby?.stop()
  await primary?.stop()
})

/** Returns the port of the server that a statement reaches, or the code of the failure. */
const reached = () =>
  pool.runPromise(
    SqlClient.SqlClient.use((sql) => sql<{ port: number }>`select inet_server_port() as port`).pipe(
      Effect.map(([row]) => row!.port),
      Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
    ),
  )

it("read-write connections go to the primary among several hosts, and after its loss to the promoted standby", async () => {
  expect(await reached()).toBe(primary.port)
  await primary.stop()
  expect(await eventually(reached, (found) => found === "NO_SUITABLE_HOST")).toBe("NO_SUITABLE_HOST")
  await standby.promote()
  expect(await eventually(reached, (found) => found === standby.port)).toBe(standby.port)
})

it("read-write connections are closed while their server is read-only", async () => {
  const setReadOnly = (value: "on" | "off") =>
    SqlClient.SqlClient.use((sql) =>
      Effect.andThen(
        sql.unsafe(`alter system set default_transaction_read_only = ${value}`),
        sql`select pg_reload_conf()`,
      ),
    ).pipe(Effect.provide(testDatabaseLayer(standby.url)), Effect.runPromise)
  await setReadOnly("on")
  expect(await eventually(reached, (found) => found !== standby.port)).toBe("NO_SUITABLE_HOST")
  await setReadOnly("off")
  expect(await eventually(reached, (found) => found === standby.port)).toBe(standby.port)
})
