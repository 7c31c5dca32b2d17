import { randomUUID } from "node:crypto"
import { SCOPES } from "@outreach/contract"
import { sql } from "@outreach/testing/sql"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { asRole } from "@outreach/testing/testRoles"
import { eventually } from "@outreach/testing/until"
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, startApi, type TestApi } from "../startApi.ts"

const api = startApi()
type Seed = Awaited<ReturnType<TestApi["seed"]>>
let seed: Seed
let other: Seed
/** A key of the first organization. */
let key: string
beforeAll(async () => {
  seed = await api().seed(1)
  other = await api().seed(1)
})
// Each test has its own key, because a key allows a hundred requests a minute.
beforeEach(async () => {
  key = (await api().issue(seed.organization.id, SCOPES)).text
})

const TOKENS = "/v1/partners/consumer/tokens"
const LIST = `${TOKENS}?since=2026-01-01T00:00:00Z`

const tokenOf = async ({ organization }: Seed) => {
  const [row] = await api().run(
    sql<{ token: string }>`select token from recipients where organization_id = ${organization.id}`,
  )
  return row!.token
}
const newKey = () => randomUUID()

const send = (target: string, key: string, idempotencyKey: string, options: { url?: string; method?: string } = {}) =>
  ask({ url: options.url ?? api().url }, target, {
    key,
    headers: { "Idempotency-Key": idempotencyKey },
    ...(options.method && { method: options.method }),
  })
const replayed = ({ headers }: Answer) => headers.get("Idempotent-Replayed")

describe("an Idempotency-Key", () => {
  it("replays a success byte for byte, and marks only the replay", async () => {
    const idempotencyKey = newKey()
    const target = `${TOKENS}/${await tokenOf(seed)}?expand[]=campaign`
    const before = await api().charged(seed.organization.id)
    const first = await send(target, key, idempotencyKey)
    expect([first.status, replayed(first)]).toEqual([200, null])
    await api().run(sql`update recipients set bounced_at = clock_timestamp(), updated_at = clock_timestamp()`)
    expect((await ask(api(), target, { key })).body).not.toEqual(first.body)

    const again = await send(target, key, idempotencyKey)
    expect([again.status, replayed(again)]).toEqual([200, "true"])
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body))
    for (const name of ["ETag", "Cache-Control", "Content-Type", "Content-Length", "X-Request-Id"]) {
      expect(again.headers.get(name)).toBe(first.headers.get(name))
    }
    expect(await api().charged(seed.organization.id)).toBe(before + 3)
  })

  it("replays a page, and the 404 of an unknown token with the request id in its body", async () => {
    for (const [target, status] of [
      [LIST, 200],
      [`${TOKENS}/zzzzzz`, 404],
    ] as const) {
      const idempotencyKey = newKey()
      const first = await send(target, key, idempotencyKey)
      await api().run(sql`update recipients set updated_at = clock_timestamp()`)
      const again = await send(target, key, idempotencyKey)
      expect([first.status, replayed(first)]).toEqual([status, null])
      expect([again.status, replayed(again), again.body]).toEqual([status, "true", first.body])
    }
  })

  it("stores no response with 304, 400, 401, 403, 406 or 429, nor the 404 of a path", async () => {
    const target = `${TOKENS}/${await tokenOf(seed)}`
    const { text: unscoped } = await api().issue(seed.organization.id, [])
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
      expect([first.status, replayed(first)]).toEqual([status, null])
      // The key can be used for another request.
      const next = await send(target, key, idempotencyKey)
      expect([next.status, replayed(next)]).toEqual([200, null])
    }
  })

  it("stores no failure, so that the next attempt is a first one", async () => {
    const [idempotencyKey, target] = [newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    const failed = await api().whileMissing("recipients", () => send(target, key, idempotencyKey))
    const next = await send(target, key, idempotencyKey)
    expect([failed.status, next.status, replayed(next)]).toEqual([500, 200, null])
  })

  it.each([
    ["if the request contains two", [newKey(), newKey()]],
    ["as a parameter if it is too long", "x".repeat(256)],
  ])("is rejected %s", async (_, idempotencyKey) => {
    const { status, body } = await ask(api(), LIST, { key, headers: { "Idempotency-Key": idempotencyKey } })
    expect([status, body.error.code, body.error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "Idempotency-Key" },
    ])
  })

  it("is rejected with IDEMPOTENCY_KEY_REUSED for another method, path or query", async () => {
    const idempotencyKey = newKey()
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
    expect(replayed(await send(LIST, seed.key, idempotencyKey))).toBeNull()
    expect(replayed(await send(LIST, key, idempotencyKey))).toBe("true")
    const elsewhere = await send(LIST, other.key, idempotencyKey)
    expect([elsewhere.status, replayed(elsewhere)]).toEqual([200, null])
    expect(elsewhere.body.data[0].service_campaign_id).toBe(other.campaign.id)
  })
})

describe("concurrent requests with one Idempotency-Key", () => {
  it("run once over two processes, and return 409 while the first one runs", async () => {
    const another = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
    onTestFinished(another.stop)
    const [idempotencyKey, target] = [newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    const first = await api().whileLocked("recipients", async () => {
      const first = send(target, key, idempotencyKey)
      await api().untilBlocked("recipients")
      const others = await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          send(target, key, idempotencyKey, { url: i % 2 ? api().url : another.url }),
        ),
      )
      for (const { status, body } of others) {
        expect([status, body.error.code, body.error.details]).toEqual([
          409,
          "IDEMPOTENCY_KEY_IN_USE",
          { retry_after: 1 },
        ])
      }
      const differing = await send(`${target}?expand[]=program`, key, idempotencyKey)
      expect(differing.body.error.code).toBe("IDEMPOTENCY_KEY_REUSED")
      return [first]
    })
    const answer = await first[0]!
    expect([answer.status, replayed(answer)]).toEqual([200, null])
    expect(replayed(await send(target, key, idempotencyKey))).toBe("true")
  })

  it("run again if the process that ran the first one was lost", async () => {
    const proxy = await tcpProxy(Number(new URL(api().databaseUrl).port))
    const lost = await runApi(api().databaseUrl, {
      DEPLOYMENT: "staging",
      DOCS_URL,
      DATABASE_URL: asRole(proxy.through(api().databaseUrl), "api"),
    })
    onTestFinished(lost.stop)
    const [idempotencyKey, target] = [newKey(), `${TOKENS}/${await tokenOf(seed)}`]
    await api().whileLocked("recipients", async () => {
      const first = send(target, key, idempotencyKey, { url: lost.url })
      await api().untilBlocked("recipients")
      proxy.cut()
      expect((await first).status).toBe(503)
      // The database detects that its client is gone, although the statement still waits.
      const next = await eventually(
        () => send("/v1/partners/consumer/digest?date=2026-01-01", key, idempotencyKey),
        ({ status }) => status !== 409,
      )
      expect([next.status, replayed(next)]).toEqual([200, null])
    })
  })
})
