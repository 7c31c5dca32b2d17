import type { ChildProcess } from "node:child_process"
import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { RELEASE } from "@outreach/process/release"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { reservePort } from "@outreach/testing/reservePort"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it, onTestFinished } from "vitest"
import { runApi } from "./runApi.ts"
import { addressOf, endApi, spawnApi } from "./spawnApi.ts"

const databaseUrl = migratedDatabase()

/** Starts the API for one test. */
const start = (settings: Readonly<Record<string, string>>): ChildProcess => {
  const child = spawnApi(databaseUrl(), settings)
  onTestFinished(() => endApi(child))
  return child
}

const changed = (change: (address: URL) => void): string => {
  const address = new URL(databaseUrl())
  change(address)
  return address.href
}

/** Asks a port for its health over a connection of its own. */
const statusFrom = (port: number): Promise<"refused" | "answered" | "closed without an answer"> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" })
    socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    let received = ""
    socket
      .setEncoding("latin1")
      .on("data", (chunk: string) => {
        received += chunk
      })
      .on("error", (error: NodeJS.ErrnoException) => error.code === "ECONNREFUSED" && resolve("refused"))
      .on("close", () => resolve(received.startsWith("HTTP/1.1 200 ") ? "answered" : "closed without an answer"))
  })

describe("the API's process", () => {
  it("says in one line of JSON where it listens, and serves there", async () => {
    const { url, port } = await addressOf(start({}))
    expect(url).toBe(`http://127.0.0.1:${port}`)
    const response = await fetch(`${url}/v1/health`)
    expect([response.status, ((await response.json()) as { version: string }).version]).toEqual([200, RELEASE])
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
  })

  it("refuses each of 200 connections that come while it starts, or answers it", async () => {
    const port = await reservePort()
    const child = start({ PORT: String(port) })
    child.stdout!.resume()
    let first = await statusFrom(port)
    while (first === "refused" && child.exitCode === null) first = await statusFrom(port)
    // Refused connections came before the process listened; the first that is accepted and all later ones have an answer.
    const others = await Promise.all(Array.from({ length: 199 }, () => statusFrom(port)))
    expect(new Set([first, ...others])).toEqual(new Set(["answered"]))
  })

  it("finishes what is in flight when it is told to stop, takes nothing more, and exits with 0", async () => {
    const child = start({})
    const { url } = await addressOf(child)
    const exited = once(child, "exit")
    const status = await Effect.gen(function* () {
      const { organization } = yield* seedCampaign({ recipients: 1 })
      const { text } = yield* issueKey({
        organizationId: organization.id,
        name: "test",
        scopes: ["tokens:read"],
        expiresAt: null,
      })
      const sql = yield* SqlClient.SqlClient
      const answer = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`lock table recipients in access exclusive mode`
          const held = fetch(`${url}/v1/partners/consumer/tokens/aB3xY9`, {
            headers: { Authorization: `Bearer ${Redacted.value(text)}` },
          })
          yield* sql`
            select from pg_locks where not granted and relation = 'recipients'::regclass
              and database = (select oid from pg_database where datname = current_database())`.pipe(
            Effect.repeat({ until: (waiting) => waiting.length > 0 }),
          )
          child.kill("SIGTERM")
          // It has stopped listening, and the request is still held.
          yield* Effect.promise(() =>
            fetch(`${url}/v1/health`)
              .then((response) => response.ok)
              .catch(() => false),
          ).pipe(Effect.repeat({ while: (served) => served }))
          return () => held
        }),
      )
      return (yield* Effect.promise(answer)).status
    }).pipe(Effect.provide(adaptersFor(databaseUrl())), Effect.runPromise)
    expect(status).toBe(404)
    expect(await exited).toEqual([0, null])
  })

  it("is not ready as soon as it is told to stop, and still serves until the balancer has seen it", async () => {
    const child = start({ SHUTDOWN_DELAY_SECONDS: "2" })
    const { url } = await addressOf(child)
    const exited = once(child, "exit")
    child.kill("SIGTERM")
    const statusOf = async (path: string) => (await fetch(url + path)).status
    while ((await statusOf("/readyz")) === 200);
    expect([await statusOf("/readyz"), await statusOf("/v1/health"), child.exitCode]).toEqual([503, 200, null])
    expect(await exited).toEqual([0, null])
  })

  it("stops at once with a sentence about a setting that is missing", async () => {
    const child = start({ DATABASE_URL: "" })
    const [sentence, [code]] = await Promise.all([text(child.stderr!), once(child, "exit")])
    expect(code).toBe(1)
    expect(sentence).toMatch(/^DATABASE_URL is not set\. It must be .+\.\n$/)
  })

  it("stops before it listens when SECRETS_KEY does not open a secret that is stored", async () => {
    await Effect.gen(function* () {
      const { organization } = yield* seedCampaign({ recipients: 0 })
      yield* rotateSecret(organization.id, 0)
    }).pipe(Effect.provide(adaptersFor(databaseUrl())), Effect.runPromise)
    const child = start({ SECRETS_KEY: Buffer.alloc(32, 9).toString("base64") })
    const [output, sentence, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "exit"),
    ])
    expect(code).toBe(1)
    expect(output).not.toContain('"listening"')
    expect(sentence).toMatch(/^SECRETS_KEY does not open the signing secrets that are stored; set it to [^\n]+\.\n$/)
  })

  it("serves, is not ready and logs one line when its password is wrong", async () => {
    const child = start({ DATABASE_URL: changed((address) => Object.assign(address, { password: "hunter2" })) })
    const faults: string[] = []
    const { url } = await addressOf(child, (line) => {
      if (JSON.parse(line).level === "ERROR") faults.push(line)
    })
    await eventually(
      () => faults.length,
      (count) => count > 0,
    )
    const response = await fetch(`${url}/readyz`)
    expect([response.status, await response.json()]).toMatchObject([503, { status: "unavailable", code: "28P01" }])
    expect((await fetch(`${url}/livez`)).status).toBe(200)
    expect(faults.map((line) => JSON.parse(line))).toMatchObject([
      { message: "database unusable", annotations: { code: "28P01", advice: expect.stringContaining("DATABASE_URL") } },
    ])
    expect(faults.join()).not.toMatch(/hunter2|127\.0\.0\.1/)
  })

  it("names a variable that looks like a setting and is none, and not its value", async () => {
    const lines: Array<{ message: string; annotations: Record<string, string> }> = []
    await addressOf(start({ PROT: "hunter2", PORTS: "1", HTTPS_PROXY: "" }), (line) => lines.push(JSON.parse(line)))
    const unknown = lines.filter(({ message }) => message.startsWith("unknown setting"))
    expect(unknown.map(({ annotations }) => annotations)).toMatchObject([{ name: "PROT", similar: "PORT" }])
    expect(JSON.stringify(lines)).not.toContain("hunter2")
  })

  it("stops with exit code 1 and a sentence when its port is taken", async () => {
    const { port } = await addressOf(start({}))
    const child = start({ PORT: String(port) })
    const [output, sentence, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "exit"),
    ])
    expect(code).toBe(1)
    expect(output).not.toMatch(/\n\s+at /)
    expect(sentence).toBe(
      `Another process listens on port ${port} of 127.0.0.1; stop it, or set PORT to another port.\n`,
    )
  })
})

describe("the API", () => {
  it.each([
    ["3D000", { pathname: "/hunter2" }],
    ["ECONNREFUSED", { port: "1" }],
    ["ENOTFOUND", { hostname: "nowhere.invalid" }],
  ])("logs one line with %s when that keeps it from the database", async (code, change) => {
    const { logs, stop } = await runApi(changed((address) => Object.assign(address, change)))
    await eventually(
      () => logs.length,
      (count) => count > 0,
    )
    expect(logs.map((line) => JSON.parse(line))).toMatchObject([
      { message: "database unusable", annotations: { code } },
    ])
    expect(logs.join()).not.toMatch(/hunter2|nowhere|127\.0\.0\.1/)
    await stop()
  })

  it.each([
    ["DATABASE_URL", ""],
    ["CURSOR_KEY", ""],
    ["PORT", "65536"],
    ["ADMIN_PORT", "65536"],
    ["HOST", "a b"],
    ["DOCS_URL", "ftp://docs.outreach.test"],
    ["LOG_LEVEL", "loud"],
    ["TRUST_PROXY", "everybody"],
    ["UNAUTHENTICATED_LIMIT", "many"],
    ["MAX_CONNECTIONS", "none"],
    ["SHUTDOWN_DELAY_SECONDS", "-1"],
  ])("does not start, with a sentence about %s when that is %j", async (name, value) => {
    const error = await runApi(databaseUrl(), { [name]: value }).catch((error: Error) => error)
    const { message: sentence } = (error as { cause: Error }).cause
    expect(sentence).toMatch(new RegExp(`^${name} is (?:malformed|not set)\\. It must be .+\\.$`))
    if (value !== "") expect(sentence).not.toContain(value)
  })
})
