import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { Effect, Fiber, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it, onTestFinished } from "vitest"

const url = migratedDatabase()

/** A connection pool through a proxy that can go mute. */
const throughProxy = async (connections: "exclusive" | "shared" = "exclusive") => {
  const port = Number(new URL(url()).port)
  const proxy = await tcpProxy(port)
  const address = proxy.through(url())
  const database = databaseLayer({
    database: databaseAt(address),
    applicationName: "silence",
    maxConnections: 4,
    connections,
  })
  const runtime = ManagedRuntime.make(database)
  onTestFinished(() => runtime.dispose())
  const outcome = (statement: string) =>
    runtime.runPromise(
      SqlClient.SqlClient.use((sql) => sql.unsafe(statement)).pipe(
        Effect.as("done"),
        Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
      ),
    )
  return { proxy, port, runtime, outcome }
}

const sessions = (statement: string) =>
  Effect.runPromise(
    SqlClient.SqlClient.use((sql) => sql.unsafe(statement)).pipe(Effect.provide(testDatabaseLayer(url()))),
  )

/** Waits until the heartbeat's connection is open. */
const beating = ({ runtime }: Awaited<ReturnType<typeof throughProxy>>) =>
  eventually(
    () =>
      runtime.runPromise(
        SqlClient.SqlClient.use(
          (sql) => sql`select from pg_stat_activity where datname = current_database()
            and pid <> pg_backend_pid() and query like '%synchronous_standby_names%'`,
        ),
      ),
    ({ length }) => length > 0,
  )

it.each(["exclusive", "shared"] as const)(
  "statements on %s connections fail when the server goes mute, and those after it work elsewhere",
  async (connections) => {
    const pool = await throughProxy(connections)
    const { proxy, port, outcome } = pool
    await beating(pool)
    // All connections of the pool are open.
    await Promise.all(Array.from({ length: 4 }, () => outcome("select pg_sleep(1)")))
    const slow = [outcome("select pg_sleep(25)"), outcome("select pg_sleep(25)")]
    const startedAt = performance.now()
    proxy.moveTo(port, "mute")
    expect(await Promise.all([...slow, outcome("select 1"), outcome("select 2")])).toEqual(Array(4).fill("ETIMEDOUT"))
    const noticed = performance.now() - startedAt
    await eventually(
      () => outcome("select 3"),
      (found) => found === "done",
    )
    console.log(
      `${connections}: noticed after ${Math.round(noticed)} ms, back after ${Math.round(performance.now() - startedAt)} ms`,
    )
  },
)

it("a statement that started before the heartbeat fails once the heartbeat finds that its session is gone", async () => {
  const { proxy, port, outcome } = await throughProxy()
  const began = outcome("select pg_sleep(25)")
  await eventually(proxy.connections, (count) => count > 0)
  await eventually(
    () => sessions("select pid from pg_stat_activity where query = 'select pg_sleep(25)' and pid <> pg_backend_pid()"),
    ({ length }) => length > 0,
  )
  const startedAt = performance.now()
  proxy.moveTo(port, "mute")
  // The session ends with its server.
  await sessions(
    "select pg_terminate_backend(pid) from pg_stat_activity where query = 'select pg_sleep(25)' and pid <> pg_backend_pid()",
  )
  expect(await began).toBe("ETIMEDOUT")
  console.log(`without a heartbeat before: noticed after ${Math.round(performance.now() - startedAt)} ms`)
})

it("a slow statement continues while the server responds to the heartbeat", async () => {
  const { outcome } = await throughProxy()
  expect(await outcome("select pg_sleep(10)")).toBe("done")
})

it("a new connection is tried again soon while the address is mute", async () => {
  const { proxy, outcome } = await throughProxy()
  proxy.mute()
  expect(await outcome("select 1")).toBe("ETIMEDOUT")
  proxy.heal()
  await eventually(
    () => outcome("select 1"),
    (found) => found === "done",
  )
})

it("many statements that wait for a connection fail together once the silence is known, and later ones at once", async () => {
  const pool = await throughProxy()
  const { proxy, outcome } = pool
  await beating(pool)
  const slow = Array.from({ length: 4 }, () => outcome("select pg_sleep(25)"))
  proxy.mute()
  const startedAt = performance.now()
  const waiting = Array.from({ length: 200 }, () => outcome("select 1"))
  expect(new Set(await Promise.all([...slow, ...waiting]))).toEqual(new Set(["ETIMEDOUT"]))
  const noticed = performance.now() - startedAt
  const laterAt = performance.now()
  expect(await Promise.all(Array.from({ length: 200 }, () => outcome("select 1")))).toEqual(
    Array(200).fill("ETIMEDOUT"),
  )
  const later = performance.now() - laterAt
  console.log(`204 statements: failed after ${Math.round(noticed)} ms, 200 later ones after ${Math.round(later)} ms`)
  // The later ones did not wait: one that had to notice the silence itself takes as long as the first ones.
  expect(later).toBeLessThan(noticed)
})

it("a commit with a lost response is reported as uncertain", async () => {
  const pool = await throughProxy()
  const { proxy, port, outcome, runtime } = pool
  await outcome("create table kept (n int)")
  await beating(pool)
  // The trigger delays the commit until the connection is mute.
  await sessions(
    "create function hold() returns trigger language plpgsql as 'begin perform pg_advisory_xact_lock(1); return null; end'",
  )
  await sessions(
    "create constraint trigger hold after insert on kept deferrable initially deferred for each row execute function hold()",
  )
  const holder = Effect.runFork(
    SqlClient.SqlClient.use((sql) =>
      sql.withTransaction(
        Effect.andThen(
          sql`select pg_advisory_xact_lock(1)`,
          Effect.promise(() => released),
        ),
      ),
    ).pipe(Effect.provide(testDatabaseLayer(url()))),
  )
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  await eventually(
    () => sessions("select from pg_locks where locktype = 'advisory' and granted"),
    ({ length }) => length === 1,
  )
  const committing = runtime.runPromise(
    SqlClient.SqlClient.use((sql) => sql.withTransaction(sql`insert into kept values (1)`)).pipe(
      Effect.as("done"),
      Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
    ),
  )
  const alone = outcome("insert into kept values (2)")
  await eventually(
    () => sessions("select from pg_locks where locktype = 'advisory' and not granted"),
    ({ length }) => length === 2,
  )
  proxy.moveTo(port, "mute")
  release()
  expect(await Promise.all([committing, alone])).toEqual(["COMMIT_UNCERTAIN", "COMMIT_UNCERTAIN"])
  await Effect.runPromise(Fiber.await(holder))
  await eventually(
    () => sessions("select from kept"),
    ({ length }) => length === 2,
  )
})
