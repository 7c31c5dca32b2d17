import { postgresUrl } from "@outreach/embedded-postgres/testDatabase"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { sql } from "@outreach/testing/sql"
import { eventually, until } from "@outreach/testing/until"
import { Effect } from "effect"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, startApi } from "../startApi.ts"

// A locked table fails immediately, in all new connections.
const lockTimeout = Effect.flatMap(
  sql<{ name: string }>`select current_database() as name`,
  ([row]) => sql`${sql.literal(`alter database "${row!.name}" set lock_timeout = 50`)}`,
)
const api = startApi(lockTimeout)

let key: string
beforeAll(async () => {
  key = (await api().seed(1)).key
})

const TOKEN = "/v1/partners/consumer/tokens/aB3xY9"
const look = () => ask(api(), TOKEN, { key })

describe("a transient failure of the database", () => {
  it("is a 503 with the time to wait, in the envelope of the operation", async () => {
    const { status, body } = await api().whileLocked("recipients", look)
    expect([status, body.error.code, body.error.type]).toEqual([503, "SERVICE_UNAVAILABLE", "api_error"])
    expect(body.error.details).toEqual({ retry_after: 5 })
    const legacy = await api().whileLocked("rate_windows", () => ask(api(), "/v1/uploads/presign", { key }))
    expect([legacy.status, legacy.body.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"])
  })

  it("shows the caller's window once the request was charged, and an untouched one before", async () => {
    const after = await api().whileLocked("recipients", look)
    expect(Number(after.headers.get("X-RateLimit-Remaining"))).toBeLessThan(100)
    const before = await api().whileLocked("rate_windows", look)
    expect([before.status, before.headers.get("X-RateLimit-Remaining")]).toEqual([503, "100"])
  })

  it("is logged once a second, with the number of failed requests and the id of the first", async () => {
    const failure = "RecipientRepository.page: 55P03"
    const lines = () => api().log.lines.filter(({ annotations }) => failure in (annotations["failures"] ?? {}))
    const list = () => ask(api(), "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z", { key })
    const before = api().log.text.length
    await api().whileLocked("recipients", () => Promise.all(Array.from({ length: 5 }, list)))
    const failed = await until(api().log, () => {
      const all = lines()
      return all.reduce((sum, { annotations }) => sum + annotations["failures"][failure], 0) === 5 && all
    })
    for (const { message, annotations } of failed) {
      expect([message, annotations["requestId"]]).toEqual([
        "requests failed because of the database",
        expect.stringMatching(/^req_/),
      ])
    }
    expect(api().log.text.slice(before)).not.toContain("unhandled error in request")
  })
})

describe("a permanent failure of the database", () => {
  const linesOf = (headers: Headers) =>
    api()
      .log.text.split("\n")
      .filter((line) => line.includes(headers.get("X-Request-Id")!))

  it("is a 500 and logged with the request's id, and neither shows details", async () => {
    const target = `${TOKEN}?expand[]=campaign`
    const { status, headers, body } = await api().whileMissing("recipients", () => ask(api(), target, { key }))
    expect([status, body.error.code, body.error.details]).toEqual([500, "INTERNAL_ERROR", null])
    expect(JSON.stringify(body)).not.toMatch(/recipients|sql|database/i)
    const [line, ...others] = await until(api().log, () => linesOf(headers).length > 0 && linesOf(headers))
    expect(others).toEqual([])
    expect(JSON.parse(line!)).toMatchObject({ level: "ERROR", annotations: { operation: "getToken" } })
    expect(line).toContain("RecipientRepository.find failed in the database")
    for (const secret of [key, "aB3xY9", "expand"]) expect(line).not.toContain(secret)
  })

  it("is logged, but a client error isn't", async () => {
    const refused = [await look(), await ask(api(), TOKEN), await ask(api(), "/nowhere")]
    // Lines are written in order, so theirs would precede this one.
    const { headers } = await api().whileMissing("recipients", look)
    await until(api().log, () => linesOf(headers).length > 0)
    for (const answer of refused) expect(linesOf(answer.headers)).toEqual([])
  })
})

describe("the readiness probe", () => {
  it("is 503 while the database accepts no connections, and 200 when it does again", async () => {
    const name = new URL(api().databaseUrl).pathname.slice(1)
    const server = await postgresUrl()
    // A database can't reject connections by its own command, so another database of the server does it.
    const allow = (allowed: boolean) =>
      Effect.andThen(
        sql`${sql.literal(`alter database "${name}" allow_connections ${allowed}`)}`,
        sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = ${name} and application_name like 'outreach-api/%'`.pipe(
          Effect.repeat({ while: (ended) => ended.length > 0 && !allowed }),
        ),
      ).pipe(Effect.provide(testDatabaseLayer(server)), Effect.runPromise)
    const ready = async () => (await ask(api(), "/readyz")).status
    await allow(false)
    await until(api().log, "database unusable")
    expect(await ready()).toBe(503)
    expect((await ask(api(), "/v1/health")).status).toBe(200)
    expect((await look()).status).toBeGreaterThanOrEqual(500)
    await allow(true)
    await until(api().log, "database usable again")
    await eventually(ready, (status) => status === 200)
    expect((await look()).status).toBe(404)
  })

  it("is 200 after a failover, because only the workers wait for an operator", async () => {
    await api().run(sql`update clock_watch set identity = 'before the promotion'`)
    const { url, adminUrl, stop } = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
    onTestFinished(stop)
    const ready = [await fetch(`${url}/readyz`), await fetch(`${await adminUrl()}/readyz`)]
    expect(ready.map(({ status }) => status)).toEqual([200, 200])
    expect((await ask({ url }, TOKEN, { key })).status).toBe(404)
  })
})
