import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { eventually } from "@outreach/testing/until"
import { Effect, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it, onTestFinished } from "vitest"

const url = migratedDatabase()

/** An open connection pool through a proxy that can go mute. */
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
  expect(await outcome("select 1")).toBe("done")
  return { proxy, port, outcome }
}

it.each(["exclusive", "shared"] as const)(
  "statements on %s connections fail when the server goes mute, and those after it work elsewhere",
  async (connections) => {
    const { proxy, port, outcome } = await throughProxy(connections)
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
  const { proxy, outcome } = await throughProxy()
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
