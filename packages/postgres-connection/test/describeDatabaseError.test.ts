import { readFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import { type ConnectionOptions, createSecureContext, TLSSocket } from "node:tls"
import * as PgClient from "@effect/sql-pg/PgClient"
import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { CLOSED_PORT, listen } from "@outreach/testing/listen"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { Effect, Redacted } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const url = migratedDatabase()
const PASSWORD = "hunter2"

type Attempt = (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>
const select: Attempt = (sql) => sql`select from migrations`

/** Describes the result of a statement on a separate connection. */
const described = (address: string, attempt = select, ssl?: ConnectionOptions) => {
  const layer = ssl === undefined ? testDatabaseLayer(address) : PgClient.layer({ url: Redacted.make(address), ssl })
  return Effect.runPromise(
    Effect.flatMap(SqlClient.SqlClient, attempt).pipe(
      Effect.provide(layer),
      Effect.flip,
      Effect.map(describeDatabaseError),
    ),
  )
}

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

const at = (host: string, port: number, parameters = "") =>
  `postgres://me:hunter2@${host}:${port}/outreach${parameters}`
const serving = async (server: Server) => at("127.0.0.1", await listen(server))
/** Rejects every connection with a SQLSTATE, like a server or a pooler. */
const refusing = (code: string) =>
  createServer((socket) => {
    const fields = Buffer.from(`SFATAL\0C${code}\0Mfor dana@clinic.test\0\0`)
    const head = Buffer.from([0x45, 0, 0, 0, fields.length + 4])
    socket.once("data", () => socket.end(Buffer.concat([head, fields])))
  })

it.each<[what: string, code: string, address: () => Promise<string>, advice: RegExp]>([
  ["nothing listens", "ECONNREFUSED", async () => at("127.0.0.1", CLOSED_PORT), /nothing listens/],
  ["the name does not resolve", "ENOTFOUND", async () => at("nowhere.invalid", 5432), /does not resolve/],
  ["the server is mute", "ETIMEDOUT", async () => `${await serving(createServer())}?connect_timeout=1`, /silent/],
  ["the connection is closed", "ECONNRESET", () => serving(createServer((socket) => void socket.end())), /closed/],
  ["the server starts", "57P03", () => serving(refusing("57P03")), /starting/],
  ["a pooler refuses a setting", "08P01", () => serving(refusing("08P01")), /pooler/],
  [
    "another protocol is spoken",
    "EPROTO",
    () => serving(createServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"))),
    /not PostgreSQL/,
  ],
  [
    "a password is missing",
    "NO_PASSWORD",
    async () => changed((address) => Object.assign(address, { password: "" })),
    /holds none/,
  ],
  ["TLS is demanded and not offered", "TLS_REFUSED", async () => `${url()}?sslmode=require`, /offers no TLS/],
  ["a parameter is malformed", "DATABASE_URL", async () => `${url()}?sslmode=perhaps`, /cannot be used/],
  ["the socket does not exist", "ENOENT", async () => "postgres://me:hunter2@%2Fnowhere/outreach", /socket/],
])("an error of the network where %s has the code %s and what to do", async (_what, code, address, advice) => {
  const fault = await describedWithin(await address())
  expect(fault).toEqual({ code, advice: expect.stringMatching(advice) })
  expect(JSON.stringify(fault)).not.toMatch(/hunter2|127\.0\.0\.1|nowhere|dana/)
})

/** Uses the connection timeout of the address. */
const describedWithin = (address: string) =>
  Effect.runPromise(
    SqlClient.SqlClient.use(select).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(address) })),
      Effect.flip,
      Effect.map(describeDatabaseError),
    ),
  )

const pem = (name: string) => readFileSync(new URL(`data/${name}.pem`, import.meta.url))
/** A server that accepts TLS like PostgreSQL, with a certificate. */
const encrypted = (certificate: string) =>
  createServer((socket) => {
    socket.once("data", () => {
      socket.write("S")
      const secureContext = createSecureContext({ key: pem("key"), cert: pem(certificate) })
      new TLSSocket(socket, { isServer: true, secureContext }).on("error", () => {})
    })
  })
const trusting = { ca: pem("authority") }

it.each<[code: string, certificate: string, ssl: ConnectionOptions, advice: RegExp]>([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "selfSigned", {}, /does not trust/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "leaf", {}, /does not trust/],
  ["SELF_SIGNED_CERT_IN_CHAIN", "chain", {}, /does not trust/],
  ["CERT_HAS_EXPIRED", "expired", trusting, /renew/],
  ["CERT_NOT_YET_VALID", "notYetValid", trusting, /clocks/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "otherHost", trusting, /another host/],
  ["ERR_SSL_NO_PROTOCOLS_AVAILABLE", "leaf", { minVersion: "TLSv1", maxVersion: "TLSv1" }, /TLS/],
])("an error of TLS has the code %s and what to do", async (code, certificate, ssl, advice) => {
  const port = await listen(encrypted(certificate))
  const fault = await described(`postgres://me:hunter2@127.0.0.1:${port}/outreach`, select, ssl)
  expect(fault).toEqual({ code, advice: expect.stringMatching(advice) })
})
