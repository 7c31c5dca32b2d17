import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Postgres, startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { postgresUrl } from "@outreach/embedded-postgres/testDatabase"
import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { CLOSED_ADDRESS } from "@outreach/testing/listen"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const path = (name: string) => fileURLToPath(new URL(`./data/${name}`, import.meta.url))
const text = (name: string) => readFileSync(path(name), "utf8")

/** A separate server: only encrypted connections, and a certificate instead of a password for the role `certified`. */
let server: Postgres
beforeAll(async () => {
  server = await startPostgres({
    settings: { ssl: "on", ssl_ca_file: "authority.crt" },
    files: {
      "authority.crt": text("authority.crt"),
      "server.crt": text("localhost.crt"),
      "server.key": text("localhost.key"),
      "pg_hba.conf": "hostssl all certified 127.0.0.1/32 cert\nhostssl all all 127.0.0.1/32 scram-sha-256\n",
    },
  })
  expect(await connect(server.url, { sslmode: "require" }, (sql) => sql`create role certified login`)).toEqual([])
})
afterAll(() => server?.stop())

const isEncrypted = (sql: SqlClient.SqlClient) => sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`

/** Runs a statement on a new connection. Returns its rows, or the error's code. */
const connect = async (
  address: string,
  parameters: Readonly<Record<string, string>>,
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<object>, SqlError.SqlError> = isEncrypted,
) => {
  const url = `${address}?${new URLSearchParams(parameters)}`
  return await SqlClient.SqlClient.use(statement).pipe(
    Effect.provide(databaseLayer({ database: databaseAt(url), applicationName: "test" })),
    Effect.catch(({ reason }) => {
      const cause = reason.cause as NodeJS.ErrnoException
      return Effect.succeed(cause.code ?? cause.message)
    }),
    Effect.runPromise,
  )
}

const ENCRYPTED = [{ ssl: true }]
const PLAIN = [{ ssl: false }]
const byName = () => server.url.replace("127.0.0.1", "localhost")
const root = { sslrootcert: path("authority.crt") }
const stranger = { sslrootcert: path("stranger.crt") }
const client = { sslcert: path("certified.crt"), sslkey: path("certified.key") }

describe("a server with a certificate from a private authority", () => {
  it.each([{}, { sslmode: "allow" }, { sslmode: "prefer" }, { sslmode: "require" }])(
    "is reached encrypted with %j, by whatever certificate",
    async (parameters) => {
      expect(await connect(server.url, parameters)).toEqual(ENCRYPTED)
    },
  )

  it("rejects sslmode=disable itself", async () => {
    expect(await connect(server.url, { sslmode: "disable" })).toBe("28000")
  })

  it.each(["prefer", "require", "verify-ca"])(
    "is reached with sslmode=%s and its authority, by whatever name",
    async (sslmode) => {
      expect(await connect(server.url, { sslmode, ...root })).toEqual(ENCRYPTED)
    },
  )

  it("is reached with sslmode=verify-full and its authority only by the name in its certificate", async () => {
    expect(await connect(byName(), { sslmode: "verify-full", ...root })).toEqual(ENCRYPTED)
    expect(await connect(server.url, { sslmode: "verify-full", ...root })).toBe("ERR_TLS_CERT_ALTNAME_INVALID")
  })

  it("is reached with sslmode=verify-full as a later host, by the name of that host", async () => {
    const hosts = byName().replace("localhost:", `${CLOSED_ADDRESS},localhost:`)
    expect(await connect(hosts, { sslmode: "verify-full", ...root })).toEqual(ENCRYPTED)
  })

  it.each(["prefer", "require", "verify-ca", "verify-full"])(
    "is not reached with sslmode=%s and another authority",
    async (sslmode) => {
      expect(await connect(byName(), { sslmode, ...stranger })).toBe("SELF_SIGNED_CERT_IN_CHAIN")
    },
  )

  it.each([{ sslmode: "verify-full" }, { sslrootcert: "system" }])(
    "is not reached with %j, because the machine does not trust its authority",
    async (parameters) => {
      expect(await connect(byName(), parameters)).toBe("SELF_SIGNED_CERT_IN_CHAIN")
    },
  )

  // On other systems, the machine's CAs aren't in a file.
  it.runIf(process.platform === "linux")("is reached where the machine trusts its authority", async () => {
    const program = `
      import { databaseAt, databaseLayer } from "@outreach/postgres-connection/databaseLayer"
      import { Effect } from "effect"
      import { SqlClient } from "effect/sql"
      const database = databaseAt(process.env.ADDRESS)
      const rows = await SqlClient.SqlClient.use((sql) => sql\`select 1 as one\`).pipe(
        Effect.provide(databaseLayer({ database, applicationName: "test" })), Effect.runPromise)
      console.log(JSON.stringify(rows))`
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], {
      cwd: import.meta.dirname,
      env: { ADDRESS: `${byName()}?sslrootcert=system`, SSL_CERT_FILE: path("authority.crt") },
    })
    expect(stdout).toBe('[{"one":1}]\n')
  })

  it("takes a client's certificate", async () => {
    const certified = server.url.replace(/\w+:[^:@]+@/, "certified@")
    expect(await connect(certified, { sslmode: "verify-ca", ...root, ...client })).toEqual(ENCRYPTED)
    expect(await connect(certified, client)).toEqual(ENCRYPTED)
    expect(await connect(certified, { sslmode: "require" })).toBe("28000")
  })

  it.each(["prefer", "require"])("carries statements larger than a packet with sslmode=%s", async (sslmode) => {
    const large = "x".repeat(3_000_000)
    const rows = await connect(server.url, { sslmode }, (sql) => sql`select ${large}::text as large`)
    expect(rows).toEqual([{ large }])
  })

  it("receives the cancellation of a statement over an encrypted connection", async () => {
    const cancelled = (sql: SqlClient.SqlClient) =>
      Effect.gen(function* () {
        const sleeping = sql`select count(*)::int as sleeping from pg_stat_activity where state = 'active' and query like 'select pg_sleep%'`
        const until = (count: number) => Effect.repeat(sleeping, { until: ([row]) => row!["sleeping"] === count })
        yield* Effect.raceFirst(sql`select pg_sleep(600)`, until(1))
        return yield* until(0)
      })
    for (const sslmode of ["prefer", "require"]) {
      expect(await connect(server.url, { sslmode }, cancelled)).toEqual([{ sleeping: 0 }])
    }
  })
})

it("an encrypted statement fails when the server goes mute", async () => {
  const proxy = await tcpProxy(server.port)
  const mute = (sql: SqlClient.SqlClient) =>
    Effect.raceFirst(
      sql`select pg_sleep(600)`,
      Effect.andThen(
        Effect.repeat(sql`select from pg_stat_activity where query like 'select pg_sleep%'`, {
          until: ({ length }) => length > 0,
        }),
        Effect.andThen(Effect.sync(proxy.mute), Effect.never),
      ),
    )
  expect(await connect(proxy.through(server.url), { sslmode: "require" }, mute)).toBe("ETIMEDOUT")
})

// An external server may offer TLS.
describe.skipIf(process.env["DATABASE_URL"])("a server without TLS", async () => {
  const url = await postgresUrl()

  it.each([{}, { sslmode: "disable" }, { sslmode: "allow" }, { sslmode: "prefer" }, { sslmode: "prefer", ...root }])(
    "is reached in plain text with %j",
    async (parameters) => {
      expect(await connect(url, parameters)).toEqual(PLAIN)
    },
  )

  it.each(["require", "verify-ca", "verify-full"])("is not reached with sslmode=%s", async (sslmode) => {
    expect(await connect(url, { sslmode, ...root })).toBe("TLS_REFUSED")
  })
})
