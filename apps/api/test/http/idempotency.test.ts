import { once } from "node:events"
import { type IncomingMessage, request } from "node:http"
import { json } from "node:stream/consumers"
import { SCOPES } from "@outreach/contract"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { addressOf, endApi, spawnApi } from "../spawnApi.ts"
import { DOCS_URL, startApi, type TestApi } from "../startApi.ts"

const api = startApi(undefined, { IDEMPOTENCY_MIB: "1" })
type Seed = Effect.Success<ReturnType<typeof seedCampaign>>
let seed: Seed
let other: Seed
beforeAll(async () => {
  seed = await api().run(seedCampaign({ recipients: 1 }))
  other = await api().run(seedCampaign({ recipients: 1 }))
})

const TOKENS = "/v1/partners/consumer/tokens"
const LIST = `${TOKENS}?since=2026-01-01T00:00:00Z`

const sql = <Row extends object>(query: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<Row>, unknown>) =>
  api().run(Effect.flatMap(SqlClient.SqlClient, query))
const keyOf = async ({ organization }: Seed, scopes: Parameters<TestApi["issue"]>[1] = SCOPES) =>
  (await api().issue(organization.id, scopes)).text
const tokenOf = async ({ organization }: Seed) =>
  (
    await sql<{ token: string }>((sql) => sql`select token from recipients where organization_id = ${organization.id}`)
  )[0]!.token
const recorded = async (idempotencyKey: string) =>
  (await sql((sql) => sql`select from stored_responses where key = ${idempotencyKey}`)).length

let names = 0
const newKey = () => `key ${process.pid} ${names++}`

/** Asks with an `Idempotency-Key`. */
const send = (target: string, key: string, idempotencyKey: string, options: { api?: TestApi; method?: string } = {}) =>
  ask(options.api ?? api(), target, {
    key,
    headers: { "Idempotency-Key": idempotencyKey },
    ...(options.method && { method: options.method }),
  })
const replayed = ({ headers }: Answer) => headers.get("Idempotent-Replayed")

/** Asks `during` while whoever reads recipients has to wait. */
const whileRecipientsAreLocked = <A>(during: () => Promise<A>) =>
  api().run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* sql.withTransaction(
        Effect.andThen(sql`lock table recipients in access exclusive mode`, Effect.promise(during)),
      )
    }),
  )
const waiting = () =>
  sql<{ readonly n: number }>(
    (sql) => sql`select count(*)::int as n from pg_locks where not granted and relation = 'recipients'::regclass
      and database = (select oid from pg_database where datname = current_database())`,
  ).then((rows) => rows[0]!.n)
const until = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await new Promise(setImmediate)
}

describe("an Idempotency-Key", () => {
  it("has a success repeated byte for byte, and marks the repeat alone", async () => {
    const key = await keyOf(seed)
    const idempotencyKey = newKey()
    const target = `${TOKENS}/${await tokenOf(seed)}?expand[]=campaign`
    const first = await send(target, key, idempotencyKey)
    expect([first.status, replayed(first)]).toEqual([200, null])
    await sql((sql) => sql`update recipients set bounced_at = clock_timestamp(), updated_at = clock_timestamp()`)
    expect((await ask(api(), target, { key })).body).not.toEqual(first.body)

    const again = await send(target, key, idempotencyKey)
    expect([again.status, replayed(again)]).toEqual([200, "true"])
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
    for (const name of ["ETag", "Cache-Control", "Content-Type", "Content-Length", "X-Request-Id"]) {
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    }
    expect(Number(again.headers.get("X-RateLimit-Remaining"))).toBe(
      Number(first.headers.get("X-RateLimit-Remaining")) - 2,
    )
  })

  it("has a page repeated as it was first answered", async () => {
    const key = await keyOf(seed)
    const idempotencyKey = newKey()
    const first = await send(LIST, key, idempotencyKey)
    await sql((sql) => sql`update recipients set updated_at = clock_timestamp()`)
    const again = await send(LIST, key, idempotencyKey)
    expect([again.body, replayed(again)]).toEqual([first.body, "true"])
  })

  it("has the refusal of an unknown token repeated, with the request id that its body names", async () => {
    const key = await keyOf(seed)
    const idempotencyKey = newKey()
    const first = await send(`${TOKENS}/zzzzzz`, key, idempotencyKey)
    const again = await send(`${TOKENS}/zzzzzz`, key, idempotencyKey)
    expect([first.status, replayed(first)]).toEqual([404, null])
    expect([again.status, replayed(again), again.body]).toEqual([404, "true", first.body])
  })

  it("keeps nothing of 304, 400, 401, 403, 404 of a path, 406 and 429", async () => {
    const target = `${TOKENS}/${await tokenOf(seed)}`
    const [key, unscoped] = [await keyOf(seed), await keyOf(seed, [])]
    const spent = await api().issue(seed.organization.id, SCOPES)
    await api().setCount(spent.id, 100)
    const questions: ReadonlyArray<[number, string, string | undefined, Record<string, string>?]> = [
      [304, target, key, { "If-None-Match": "*" }],
      [400, `${TOKENS}/!`, key],
      [401, target, undefined],
      [403, target, unscoped],
      [404, "/v1/nowhere", key],
      [406, target, key, { Accept: "text/html" }],
      [429, target, spent.text],
    ]
    for (const [status, path, text, headers] of questions) {
      const idempotencyKey = newKey()
      const first = await ask(api(), path, {
        ...(text && { key: text }),
        headers: { ...headers, "Idempotency-Key": idempotencyKey },
      })
      expect([first.status, replayed(first), await recorded(idempotencyKey)]).toEqual([status, null, 0])
      // The key is free for another request.
      expect((await send(target, key, idempotencyKey)).status).toBe(200)
    }
  })

  it("keeps nothing of a failure, so that the next attempt is a first one", async () => {
    const [key, idempotencyKey, target] = [await keyOf(seed), newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    await sql((sql) => sql`alter table recipients rename to recipients_away`)
    const failed = await send(target, key, idempotencyKey)
    await sql((sql) => sql`alter table recipients_away rename to recipients`)
    const next = await send(target, key, idempotencyKey)
    expect([failed.status, next.status, replayed(next)]).toEqual([500, 200, null])
  })

  it("is refused when it is given in two lines", async () => {
    const key = await keyOf(seed)
    const twice = request(api().url + LIST, {
      headers: { Authorization: `Bearer ${key}`, "Idempotency-Key": [newKey(), newKey()] },
      agent: false,
    }).end()
    const [response] = (await once(twice, "response")) as [IncomingMessage]
    const { error } = (await json(response)) as Answer["body"]
    expect([response.statusCode, error.code, error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "Idempotency-Key" },
    ])
  })

  it("is refused with IDEMPOTENCY_KEY_REUSED for another method, path or query", async () => {
    const [key, idempotencyKey] = [await keyOf(seed), newKey()]
    await send(`${LIST}&limit=1`, key, idempotencyKey)
    for (const [target, method] of [
      [`${LIST}&limit=2`, "GET"],
      [`${TOKENS}?limit=1&since=2026-01-01T00:00:00Z`, "GET"],
      [`${TOKENS}/${await tokenOf(seed)}`, "GET"],
    ] as const) {
      const { status, body } = await send(target, key, idempotencyKey, { method })
      expect([status, body.error.code, body.error.type]).toEqual([409, "IDEMPOTENCY_KEY_REUSED", "idempotency_error"])
    }
    expect((await send(`${LIST}&limit=1`, key, idempotencyKey, { method: "HEAD" })).status).toBe(409)
    expect(replayed(await send(`${LIST}&limit=1`, key, idempotencyKey))).toBe("true")
  })

  it("belongs to an organization, whichever of its API keys comes with it", async () => {
    const idempotencyKey = newKey()
    expect(replayed(await send(LIST, await keyOf(seed), idempotencyKey))).toBeNull()
    expect(replayed(await send(LIST, await keyOf(seed), idempotencyKey))).toBe("true")
    const elsewhere = await send(LIST, await keyOf(other), idempotencyKey)
    expect([elsewhere.status, replayed(elsewhere)]).toEqual([200, null])
    expect(elsewhere.body.data[0].service_campaign_id).toBe(other.campaign.id)
  })

  it("is forgotten after 24 hours", async () => {
    const [key, idempotencyKey] = [await keyOf(seed), newKey()]
    const age = (interval: string) =>
      sql(
        (sql) =>
          sql`update stored_responses set created_at = clock_timestamp() - ${interval}::interval where key = ${idempotencyKey}`,
      )
    await send(LIST, key, idempotencyKey)
    await age("23 hours 59 minutes")
    expect(replayed(await send(LIST, key, idempotencyKey))).toBe("true")
    await age("24 hours 1 second")
    expect(replayed(await send(`${LIST}&limit=7`, key, idempotencyKey))).toBeNull()
    expect(replayed(await send(`${LIST}&limit=7`, key, idempotencyKey))).toBe("true")
  })

  it("is free again once its organization stored as much as IDEMPOTENCY_MIB allows, and a repeat is a first one", async () => {
    const [key, oldest, newest] = [await keyOf(seed), newKey(), newKey()]
    const first = await send(LIST, key, oldest)
    await sql((sql) => sql`update stored_response_totals set bytes = bytes + 1024 * 1024 - 1000`)
    await send(LIST, key, newest)
    const again = await send(LIST, key, oldest)
    expect([again.status, replayed(again), again.body]).toEqual([200, null, first.body])
    expect(replayed(await send(LIST, key, newest))).toBe("true")
  })

  it.each(["", "x".repeat(256), "caf\u00e9", "a\tb"])("is refused as a parameter when it is %j", async (text) => {
    const { status, body } = await send(LIST, await keyOf(seed), text)
    expect([status, body.error.code, body.error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "Idempotency-Key" },
    ])
  })

  it.each(["x", "x".repeat(255), "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ x"])("may be %j", async (text) => {
    const key = await keyOf(seed)
    expect((await send(LIST, key, text)).status).toBe(200)
    expect(replayed(await send(LIST, key, text))).toBe("true")
  })
})

describe("requests with one Idempotency-Key at the same time", () => {
  it("run once among fifty over two processes", async () => {
    const another = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
    onTestFinished(another.stop)
    const [key, idempotencyKey, target] = [await keyOf(seed), newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    let settled = 0
    const fifty = await whileRecipientsAreLocked(async () => {
      const asked = Array.from({ length: 50 }, (_, i) =>
        send(target, key, idempotencyKey, { api: i % 2 ? api() : { ...api(), url: another.url } }).finally(
          () => settled++,
        ),
      )
      // All but the one that runs have their answer while it is held.
      await until(async () => settled === 49)
      expect(await waiting()).toBe(1)
      return asked
    })
    const answers = await Promise.all(fifty)
    expect(answers.filter(({ status }) => status === 200).map(replayed)).toEqual([null])
    // 503 says nothing of the key: a very busy machine may take longer to connect to the database than the service waits.
    const refused = answers.filter(({ status }) => status !== 200 && status !== 503)
    expect(new Set(refused.map(({ body }) => body.error.code))).toEqual(new Set(["IDEMPOTENCY_KEY_IN_USE"]))
    expect(refused[0]!.body.error.details).toEqual({ retry_after: 1 })
    expect(replayed(await send(target, key, idempotencyKey))).toBe("true")
  })

  it("are refused as reused when they are not the one that runs", async () => {
    const [key, idempotencyKey, target] = [await keyOf(seed), newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    const first = await whileRecipientsAreLocked(async () => {
      const held = send(target, key, idempotencyKey)
      await until(async () => (await waiting()) === 1)
      expect((await send(`${target}?expand[]=program`, key, idempotencyKey)).body.error.code).toBe(
        "IDEMPOTENCY_KEY_REUSED",
      )
      return [held]
    })
    expect((await first[0])!.status).toBe(200)
  })

  it("are free again when the process that ran one is killed", async () => {
    const child = spawnApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
    onTestFinished(() => endApi(child))
    const { url } = await addressOf(child)
    const [key, idempotencyKey, target] = [await keyOf(seed), newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    await whileRecipientsAreLocked(async () => {
      const lost = send(target, key, idempotencyKey, { api: { ...api(), url } }).then(
        () => "answered",
        () => "lost",
      )
      await until(async () => (await waiting()) === 1)
      await endApi(child)
      expect(await lost).toBe("lost")
      // The server notices by itself, though the statement still waits.
      await until(
        async () =>
          (
            await sql(
              (sql) => sql`select from pg_locks where locktype = 'advisory'
        and database = (select oid from pg_database where datname = current_database())`,
            )
          ).length === 0,
      )
    })
    const answer = await send(target, key, idempotencyKey)
    expect([answer.status, replayed(answer)]).toEqual([200, null])
  })
})
