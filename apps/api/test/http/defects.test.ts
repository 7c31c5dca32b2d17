import { SCOPES } from "@outreach/contract"
import { postgresUrl } from "@outreach/embedded-postgres/postgresUrl"
import { testDatabaseLayer } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it, vi } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi(
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.flatMap(
      sql<{ name: string }>`select current_database() as name`,
      ([row]) =>
        // So that a locked table is a failure at once, in every connection made from now on.
        sql`${sql.literal(`alter database "${row!.name}" set lock_timeout = 50`)}`,
    ),
  ),
)

let key: { id: string; text: string }
beforeAll(async () => {
  const { organization } = await api().run(seedCampaign({ recipients: 1 }))
  key = await api().issue(organization.id, SCOPES)
})

const TOKEN = "/v1/partners/consumer/tokens/aB3xY9"

/** Asks while a table is locked. */
const whileLocked = <A>(table: string, question: () => Promise<A>) =>
  api().run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql.withTransaction(
        Effect.andThen(sql`lock table ${sql(table)} in access exclusive mode`, Effect.promise(question)),
      )
    }),
  )

const rename = (from: string, to: string) =>
  api().run(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`alter table ${sql(from)} rename to ${sql(to)}`).pipe(
      Effect.asVoid,
    ),
  )

/** What was logged about a request, once it was. */
const logsOf = (headers: Headers): ReadonlyArray<string> | false => {
  const entries = api().logs.filter((log) => log.includes(headers.get("X-Request-Id")!))
  return entries.length > 0 && entries
}

describe("a failure of the database", () => {
  it("that may pass is answered 503, and says how long to wait", async () => {
    const { status, body } = await whileLocked("recipients", () => ask(api(), TOKEN, { key: key.text }))
    expect([status, body.error.code, body.error.type]).toEqual([503, "SERVICE_UNAVAILABLE", "api_error"])
    expect(body.error.details).toEqual({ retry_after: 5 })
  })

  it("that may pass is logged with others of its second in one line, which counts them and names the first", async () => {
    const lines = () =>
      api()
        .logs.map((line) => JSON.parse(line))
        .filter(({ message }) => message === "requests failed with the database")
    const counted = () => lines().reduce((sum, { annotations }) => sum + annotations.count, 0)
    const before = counted()
    await whileLocked("recipients", () =>
      Promise.all(Array.from({ length: 5 }, () => ask(api(), TOKEN, { key: key.text }))),
    )
    await eventually(counted, (count) => count >= before + 5)
    for (const { annotations } of lines()) {
      expect(annotations.requestId).toMatch(/^req_/)
      expect(annotations.failures).toEqual({ "RecipientRepository.find: 55P03": annotations.count })
    }
    expect(api().logs.join("\n")).not.toContain("unhandled error in request")
  })

  it("keeps the caller's window in the headers once it was charged, and shows an untouched one before", async () => {
    const after = await whileLocked("recipients", () => ask(api(), TOKEN, { key: key.text }))
    expect(Number(after.headers.get("X-RateLimit-Remaining"))).toBeLessThan(100)
    const before = await whileLocked("rate_windows", () => ask(api(), TOKEN, { key: key.text }))
    expect([before.status, before.headers.get("X-RateLimit-Remaining")]).toEqual([503, "100"])
  })

  it("is answered in the legacy envelope where that is the operation's", async () => {
    const { status, body } = await whileLocked("rate_windows", () =>
      ask(api(), "/v1/uploads/presign", { key: key.text }),
    )
    expect([status, body.error.code]).toEqual([503, "SERVICE_UNAVAILABLE"])
  })

  it("that will not pass is answered 500 and logged with the request's id, and neither shows anything of it", async () => {
    await rename("recipients", "recipients_away")
    const { status, headers, body } = await ask(api(), `${TOKEN}?expand[]=campaign`, { key: key.text })
    await rename("recipients_away", "recipients")

    expect([status, body.error.code, body.error.details]).toEqual([500, "INTERNAL_ERROR", null])
    expect(JSON.stringify(body)).not.toMatch(/recipients|sql|database/i)
    const [entry, ...others] = await vi.waitUntil(() => logsOf(headers), { timeout: 100_000 })
    expect(others).toEqual([])
    expect(JSON.parse(entry!)).toMatchObject({ level: "ERROR", annotations: { operation: "getToken" } })
    expect(entry).toContain("RecipientRepository.find failed in the database")
    for (const secret of [key.text, "aB3xY9", "expand"]) expect(entry).not.toContain(secret)
  })

  it("is not logged when it is only a refusal", async () => {
    const counted = () => api().logs.filter((line) => !line.includes("requests failed with the database")).length
    const before = counted()
    await ask(api(), TOKEN, { key: key.text })
    await ask(api(), TOKEN)
    await ask(api(), "/nowhere")
    // Lines come in order, so whatever those had logged would stand before this failure.
    await rename("recipients", "recipients_away")
    const { headers } = await ask(api(), TOKEN, { key: key.text })
    await rename("recipients_away", "recipients")
    await vi.waitUntil(() => logsOf(headers), { timeout: 100_000 })
    expect(counted()).toBe(before + 1)
  })
})

describe("the readiness probe", () => {
  it("answers 503 while the database takes no connections, and 200 when it does again", async () => {
    const name = new URL(api().databaseUrl).pathname.slice(1)
    const server = await postgresUrl()
    // A database cannot refuse connections by its own word, so this comes from another one of the server.
    const allow = (allowed: boolean) =>
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.andThen(
          sql`${sql.literal(`alter database "${name}" allow_connections ${allowed}`)}`,
          sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = ${name} and application_name like 'outreach-api/%'`.pipe(
            Effect.repeat({ while: (ended) => ended.length > 0 && !allowed }),
          ),
        ),
      ).pipe(Effect.provide(testDatabaseLayer(server)), Effect.runPromise)
    const ready = async () => (await ask(api(), "/readyz")).status
    await allow(false)
    await eventually(ready, (status) => status === 503)
    expect((await ask(api(), "/v1/health")).status).toBe(200)
    expect((await ask(api(), TOKEN, { key: key.text })).status).toBeGreaterThanOrEqual(500)
    await allow(true)
    await eventually(ready, (status) => status === 200)
    expect((await ask(api(), TOKEN, { key: key.text })).status).toBe(404)
  })
})
