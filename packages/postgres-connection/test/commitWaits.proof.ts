import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { setSynchronousStandbys, startStandby } from "@outreach/embedded-postgres/startStandby"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { Effect, Fiber, ManagedRuntime } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { afterAll, beforeAll, expect, it } from "vitest"

let primary: Postgres
let standby: Postgres
let admin: ManagedRuntime.ManagedRuntime<SqlClient.SqlClient, SqlError.SqlError>
beforeAll(async () => {
  primary = await startPostgres({ settings: { synchronous_commit: "on" } })
  // Its commits don't wait.
  admin = ManagedRuntime.make(testDatabaseLayer(`${primary.url}?options=-c%20synchronous_commit%3Doff`))
  await admin.runPromise(SqlClient.SqlClient.use((sql) => sql`create table kept (n int primary key)`))
  standby = await startStandby(primary, { name: "s1" })
  await setSynchronousStandbys(primary.url, "s1")
})
afterAll(async () => {
  await admin?.dispose()
  await standby?.stop()
  await primary?.stop()
})

const waiting = () =>
  admin.runPromise(
    SqlClient.SqlClient.use(
      (sql) =>
        sql<{
          pid: number
        }>`select pid from pg_stat_activity where wait_event = 'SyncRep' and application_name = 'pool'`,
    ),
  )
const kept = () =>
  admin.runPromise(
    SqlClient.SqlClient.use((sql) => sql<{ n: number }>`select n from kept order by n`).pipe(
      Effect.map((rows) => rows.map(({ n }) => n)),
    ),
  )

it("a commit that waits for a lost standby is never taken for done", async () => {
  const pool = databaseLayer({ database: databaseAt(primary.url), applicationName: "pool", maxConnections: 3 })
  const runtime = ManagedRuntime.make(pool)
  const outcome = (statement: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>) =>
    SqlClient.SqlClient.use(statement).pipe(
      Effect.as("done"),
      Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
    )
  const insert = (n: number) => outcome((sql) => sql`insert into kept values (${n})`)
  const commitsWait = () => runtime.runPromise(DatabaseRoute.useSync(({ outage }) => outage()?.code === "COMMITS_WAIT"))
  expect(await runtime.runPromise(insert(1))).toBe("done")
  await standby.stop()

  // A session's own limit ends with its statement, before the commit. Inside and outside of a transaction.
  const limited = runtime.runFork(
    outcome((sql) =>
      sql.withTransaction(Effect.andThen(sql`set local statement_timeout = '50ms'`, sql`insert into kept values (2)`)),
    ),
  )
  const plain = runtime.runFork(insert(3))
  const [one, other] = await eventually(waiting, ({ length }) => length === 2)
  // After an operator's cancellation, the server reports success.
  for (const { pid } of [one!, other!]) {
    await admin.runPromise(SqlClient.SqlClient.use((sql) => sql`select pg_cancel_backend(${pid})`))
  }
  expect(await Effect.runPromise(Effect.all([Fiber.join(limited), Fiber.join(plain)]))).toEqual(
    Array(2).fill("COMMIT_UNCERTAIN"),
  )
  // The notice arrives before the transaction has ended.
  expect(await eventually(kept, ({ length }) => length === 3)).toEqual([1, 2, 3])

  const startedAt = performance.now()
  const since = () => `${((performance.now() - startedAt) / 1000).toFixed(1)} s`
  const left = runtime.runFork(insert(4))
  await eventually(commitsWait, (wait) => wait)
  console.log(`noticed after ${since()}`)
  expect(await Effect.runPromise(Fiber.join(left))).toBe("COMMITS_WAIT")
  console.log(`the statement failed after ${since()}`)
  // No further statements are sent to wait in the server.
  expect(await Promise.all([5, 6, 7, 8].map((n) => runtime.runPromise(insert(n))))).toEqual(
    Array(4).fill("COMMITS_WAIT"),
  )
  expect(await waiting()).toHaveLength(2)

  const returnedAt = performance.now()
  standby = await startStandby(primary, { name: "s1" })
  await eventually(commitsWait, (wait) => !wait)
  console.log(`commits come through ${Math.round(performance.now() - returnedAt)} ms after the standby was started`)
  expect(await runtime.runPromise(insert(5))).toBe("done")
  expect(await kept()).toEqual([1, 2, 3, 4, 5])
  await runtime.dispose()
})
