import { createServer } from "node:net"
import { isSuitable } from "@outreach/postgres-connection/DatabaseAddress"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { expect, it } from "vitest"

const url = migratedDatabase()
const server = () => new URL(url()).host

/** Returns the URL of the test's database on several hosts. */
const through = (hosts: ReadonlyArray<string>, parameters = "", database = new URL(url()).pathname) => {
  const { username, password } = new URL(url())
  return `postgres://${username}:${password}@${hosts.join()}${database}?connect_timeout=2&${parameters}`
}

/** Runs statements on one pool. Returns the result of the last one, or the code of the failure. */
const run = (
  address: string,
  statements: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError> = (sql) => sql`select 1 as one`,
) =>
  Effect.runPromise(
    SqlClient.SqlClient.use(statements).pipe(
      Effect.catch((error) => Effect.succeed(describeDatabaseError(error).code)),
      Effect.provide(databaseLayer({ database: databaseAt(address), applicationName: "test", maxConnections: 1 })),
    ),
  )

it("uses the first available host, after one with a closed port and one that doesn't respond", async () => {
  const silent = await tcpProxy(Number(new URL(url()).port))
  silent.mute()
  expect(await run(through([CLOSED_ADDRESS, silent.address, server()]))).toEqual([{ one: 1 }])
})

it("connects again without another attempt at a failed host", async () => {
  let attempts = 0
  const refusing = `127.0.0.1:${await listen(
    createServer((socket) => {
      attempts++
      socket.destroy()
    }),
  )}`
  const again = (sql: SqlClient.SqlClient) =>
    Effect.gen(function* () {
      for (let i = 0; i < 3; i++) yield* Effect.ignore(sql`select pg_terminate_backend(pg_backend_pid())`)
      return yield* sql`select 1 as one`
    })
  expect(await run(through([refusing, server()]), again)).toEqual([{ one: 1 }])
  expect(attempts).toBe(1)
})

it("tries all addresses of a name", async () => {
  // The server listens only on 127.0.0.1, and the name may resolve to ::1 first.
  expect(await run(through([server()]).replace("127.0.0.1", "localhost"))).toEqual([{ one: 1 }])
})

it.each(["any", "read-write", "primary"])("takes a primary for %s", async (target) => {
  expect(await run(through([server()], `target_session_attrs=${target}`))).toEqual([{ one: 1 }])
})

it("takes no server for read-write if all are read-only", async () => {
  const parameters = "target_session_attrs=read-write&options=-c%20default_transaction_read_only%3Don"
  expect(await run(through([server(), server()], parameters))).toBe("NO_SUITABLE_HOST")
})

it("takes a standby only for any", () => {
  const state = { isStandby: true, isReadOnly: true }
  const targets = ["any", "read-write", "primary"] as const
  expect(targets.map((target) => isSuitable(target, state))).toEqual([true, false, false])
})

it("reports an error returned by a server, and tries no other host", async () => {
  expect(await run(through([server(), CLOSED_ADDRESS], "", "/nowhere"))).toBe("3D000")
})

it.each([
  ["ECONNREFUSED", () => through([CLOSED_ADDRESS, CLOSED_ADDRESS])],
  ["ENOTFOUND", () => through(["nowhere.invalid"])],
  ["ENOENT", () => through(["%2Fnowhere"])],
  ["NO_PASSWORD", () => Object.assign(new URL(url()), { password: "" }).href],
])("reports %s if no host is reached", async (code, address) => {
  expect(await run(address())).toBe(code)
})

it("makes the server detect lost clients with TCP keepalives", async () => {
  const settings = (sql: SqlClient.SqlClient) => sql`
    select current_setting('tcp_keepalives_idle') as idle, current_setting('tcp_keepalives_interval') as interval,
      current_setting('tcp_keepalives_count') as count`
  expect(await run(url(), settings)).toEqual([{ idle: "10", interval: "5", count: "3" }])
})
