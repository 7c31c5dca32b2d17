import { SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { apiKeyText } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
let organizationId: OrganizationId
let token: string
beforeAll(async () => {
  ;({ organizationId, token } = await api().run(
    Effect.gen(function* () {
      const { organization } = yield* seedCampaign({ recipients: 1 })
      const sql = yield* SqlClient.SqlClient
      const rows = yield* sql<{ token: string }>`select token from recipients`
      return { organizationId: organization.id, token: rows[0]!.token }
    }),
  ))
})
const issue = (scopes: Parameters<ReturnType<typeof api>["issue"]>[1] = SCOPES) => api().issue(organizationId, scopes)

const TOKENS = "/v1/partners/consumer/tokens"
const SINCE = "since=2026-01-01T00:00:00Z"
const DRAFTS = [
  ["POST", "/v1/surveys"],
  ["POST", "/v1/surveys/validate"],
  ["GET", "/v1/uploads/presign"],
] as const

describe("a request id", () => {
  it("is new for every answer and never the caller's", async () => {
    const headers = { "X-Request-Id": "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8" }
    const ids = new Set<string>()
    for (const target of ["/v1/health", "/nowhere", TOKENS, "/readyz"]) {
      for (const method of ["GET", "HEAD", "DELETE"]) {
        ids.add((await ask(api(), target, { method, headers })).headers.get("X-Request-Id")!)
      }
    }
    expect(ids.size).toBe(12)
    expect(ids).not.toContain(headers["X-Request-Id"])
  })
})

describe("paths and methods", () => {
  it.each(["/", "/v1", "/v1/health/", "/V1/health", "/v1//health", "/v1/health;a=1", `${TOKENS}/a/b`])(
    "answers NOT_FOUND for %s",
    async (path) => {
      const { status, body, headers } = await ask(api(), path)
      expect([status, body.error.code]).toEqual([404, "NOT_FOUND"])
      expect(headers.get("X-RateLimit-Remaining")).toBe("100")
    },
  )

  it.each([
    ["POST", "/v1/health", "GET, HEAD, OPTIONS"],
    ["DELETE", `${TOKENS}/abc123`, "GET, HEAD, OPTIONS"],
    ["GET", "/v1/surveys", "POST, OPTIONS"],
    ["PATCH", "/readyz", "GET, HEAD, OPTIONS"],
    ["PROPFIND", "/v1/health", "GET, HEAD, OPTIONS"],
  ])("answers METHOD_NOT_ALLOWED for %s %s and names those that are", async (method, path, allow) => {
    const { status, body, headers } = await ask(api(), path, { method })
    expect([status, body.error.code, headers.get("Allow")]).toEqual([405, "METHOD_NOT_ALLOWED", allow])
  })

  it.each([
    ["/v1/health", "GET, HEAD, OPTIONS"],
    [TOKENS, "GET, HEAD, OPTIONS"],
    [`${TOKENS}/!?nonsense`, "GET, HEAD, OPTIONS"],
    ["/v1/surveys", "POST, OPTIONS"],
    ["/readyz", "GET, HEAD, OPTIONS"],
  ])("answers OPTIONS %s with what the path allows, and asks nobody who they are", async (path, allow) => {
    const before = await api().charged()
    const headers = { Origin: "https://elsewhere.test", "Access-Control-Request-Method": "GET" }
    const answer = await ask(api(), path, { method: "OPTIONS", headers })
    expect([answer.status, answer.body, answer.headers.get("Allow")]).toEqual([204, null, allow])
    expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
    expect(await api().charged()).toBe(before)
    expect((await ask(api(), "/nowhere", { method: "OPTIONS" })).status).toBe(404)
  })

  it("answers HEAD with the headers of GET and no body", async () => {
    const { text } = await issue()
    const get = await ask(api(), `${TOKENS}/${token}`, { key: text })
    const head = await ask(api(), `${TOKENS}/${token}`, { key: text, method: "HEAD" })
    expect(head.status).toBe(200)
    for (const name of ["Content-Type", "Content-Length", "ETag", "Cache-Control"]) {
      expect(head.headers.get(name)).toBe(get.headers.get(name))
    }
    expect((await ask(api(), TOKENS, { method: "HEAD" })).status).toBe(401)
    expect((await ask(api(), "/v1/surveys", { method: "HEAD" })).status).toBe(405)
  })
})

describe("a path of a draft", () => {
  it("answers METHOD_NOT_ALLOWED in the legacy envelope", async () => {
    const { status, body, headers } = await ask(api(), "/v1/surveys", { method: "GET" })
    expect([status, Object.keys(body.error), headers.get("Allow")]).toEqual([405, ["code", "message"], "POST, OPTIONS"])
  })
})

describe("authentication", () => {
  it("answers every kind of bad bearer alike, and charges nobody", async () => {
    const { run, charged } = api()
    const revoked = await issue()
    const expired = await issue()
    const { text } = await issue()
    await run(Effect.flatMap(ApiKeyRepository, (keys) => keys.revoke(revoked.id)))
    await run(rotateKey(expired.id, 0))
    const before = await charged()

    const authorizations = [
      undefined,
      "",
      "Bearer",
      "Bearer ",
      `Basic ${text}`,
      `Bearer${text}`,
      `Bearer ${text} x`,
      `Bearer ${text.slice(0, -1)}`,
      `Bearer ${text.slice(0, -1)}${text.endsWith("0") ? "1" : "0"}`,
      `Bearer ${apiKeyText(false, "A".repeat(30))}`,
      `Bearer ${apiKeyText(true, text.slice(9, 39))}`,
      `Bearer ${revoked.text}`,
      `Bearer ${expired.text}`,
      "Bearer \u00ff\u00fe",
      `Bearer ${"x".repeat(7000)}`,
    ]
    const answers = new Set<string>()
    for (const authorization of authorizations) {
      const { status, headers, body } = await ask(api(), `${TOKENS}/${token}`, {
        headers: authorization === undefined ? {} : { Authorization: authorization },
      })
      expect(headers.get("WWW-Authenticate")).toBe("Bearer")
      expect(headers.get("X-RateLimit-Remaining")).toBe("100")
      answers.add(JSON.stringify({ status, ...body.error, request_id: undefined }))
    }
    expect([...answers]).toEqual([expect.stringContaining('"code":"UNAUTHORIZED"')])
    expect(await charged()).toBe(before)
  })

  it.each(["bearer", "BEARER", "Bearer  "])("takes the scheme as %s", async (scheme) => {
    const { text } = await issue()
    const { status } = await ask(api(), `${TOKENS}/${token}`, { headers: { Authorization: `${scheme} ${text}` } })
    expect(status).toBe(200)
  })

  it("feels a revocation at the next request", async () => {
    const { id, text } = await issue()
    expect((await ask(api(), `${TOKENS}/${token}`, { key: text })).status).toBe(200)
    await api().run(Effect.flatMap(ApiKeyRepository, (keys) => keys.revoke(id)))
    expect((await ask(api(), `${TOKENS}/${token}`, { key: text })).status).toBe(401)
  })
})

describe("the order of refusals", () => {
  it("puts the scope before the request's own faults", async () => {
    const { text } = await issue(["digest:read"])
    for (const target of [`${TOKENS}/!`, `${TOKENS}/${token}`, TOKENS, `${TOKENS}?nonsense=1`]) {
      const { status, body } = await ask(api(), target, { key: text })
      expect([status, body.error.code]).toEqual([403, "INSUFFICIENT_SCOPE"])
    }
  })

  it("puts the rate limit before everything but the key", async () => {
    const { id, text } = await issue([])
    await api().setCount(id, 100)
    for (const target of [
      `${TOKENS}/!`,
      TOKENS,
      "/v1/partners/consumer/events",
      "/v1/partners/consumer/digest?date=x",
    ]) {
      const { status, body, headers } = await ask(api(), target, { key: text })
      expect([status, body.error.code, headers.get("X-RateLimit-Remaining")]).toEqual([429, "RATE_LIMITED", "0"])
      const wait = Number(headers.get("Retry-After"))
      expect(wait).toBeGreaterThanOrEqual(1)
      expect(wait).toBeLessThanOrEqual(60)
    }
    expect((await ask(api(), `${TOKENS}/!`, { key: `${text}x` })).status).toBe(401)
    expect((await ask(api(), "/nowhere", { key: text })).status).toBe(404)
  })

  it("charges 200, 304, 400, 403, 404 and 501 alike", async () => {
    const { id, text } = await issue(["tokens:read", "events:read"])
    await api().setCount(id, 10)
    const first = await ask(api(), `${TOKENS}/${token}`, { key: text })
    const targets: ReadonlyArray<[string, number, Record<string, string>?]> = [
      [`${TOKENS}/${token}`, 304, { "If-None-Match": first.headers.get("ETag")! }],
      [`${TOKENS}/!`, 400],
      ["/v1/partners/consumer/digest?date=2026-01-01", 403],
      [`${TOKENS}/zzzzzz`, 404],
      ["/v1/uploads/presign", 501],
    ]
    expect(first.headers.get("X-RateLimit-Remaining")).toBe("89")
    for (const [i, [target, status, headers = {}]] of targets.entries()) {
      const answer = await ask(api(), target, { key: text, headers })
      expect([answer.status, answer.headers.get("X-RateLimit-Remaining")]).toEqual([status, String(88 - i)])
    }
  })

  it("gives each key of an organization its own count", async () => {
    const [one, other] = [await issue(), await issue()]
    await api().setCount(one.id, 100)
    expect((await ask(api(), `${TOKENS}/${token}`, { key: one.text })).status).toBe(429)
    expect((await ask(api(), `${TOKENS}/${token}`, { key: other.text })).headers.get("X-RateLimit-Remaining")).toBe(
      "99",
    )
  })

  it("admits exactly 100 in a window, however many come at once", async () => {
    const { text } = await issue()
    const answers = await Promise.all(
      Array.from({ length: 150 }, () => ask(api(), `${TOKENS}/${token}`, { key: text })),
    )
    const windows = new Map<string | null, { admitted: number; refused: number }>()
    for (const { status, headers } of answers) {
      const reset = headers.get("X-RateLimit-Reset")
      const window = windows.get(reset) ?? { admitted: 0, refused: 0 }
      window[status === 200 ? "admitted" : "refused"]++
      windows.set(reset, window)
    }
    // Should the minute end in between, there are two windows, each with its own count.
    for (const { admitted, refused } of windows.values()) expect(admitted).toBe(refused > 0 ? 100 : admitted)
    if (windows.size === 1) expect([...windows.values()]).toEqual([{ admitted: 100, refused: 50 }])
  })

  it("refuses a key that is known to be over its limit without asking the database", async () => {
    const { id, text } = await issue()
    await api().setCount(id, 100)
    expect((await ask(api(), `${TOKENS}/${token}`, { key: text })).status).toBe(429)
    const before = await api().charged()
    const again = await ask(api(), `${TOKENS}/${token}`, { key: text })
    // Should the minute have ended in between, the next window is spent as well and was asked about once.
    expect(again.status).toBe(429)
    expect((await api().charged()) - before).toBeLessThanOrEqual(1)
  })
})

describe("what a caller accepts", () => {
  it.each(["text/html", "application/json;q=0", "application/xml, text/*;q=0.5", "nonsense"])(
    "refuses Accept: %s with NOT_ACCEPTABLE, after the key, the count and the scope",
    async (accept) => {
      const { text } = await issue()
      const headers = { Accept: accept }
      const { status, body } = await ask(api(), `${TOKENS}/!`, { key: text, headers })
      expect([status, body.error.code]).toEqual([406, "NOT_ACCEPTABLE"])
      expect((await ask(api(), `${TOKENS}/${token}`, { headers })).status).toBe(401)
      expect((await ask(api(), `${TOKENS}/${token}`, { key: (await issue([])).text, headers })).status).toBe(403)
      expect((await ask(api(), "/v1/health", { headers })).status).toBe(406)
    },
  )

  it.each(["", "*/*", "application/*;q=0.1", "text/html, application/json;q=0.9", "application/json; charset=utf-8"])(
    "serves Accept: %s",
    async (accept) => {
      const { text } = await issue()
      expect((await ask(api(), `${TOKENS}/${token}`, { key: text, headers: { Accept: accept } })).status).toBe(200)
    },
  )
})

describe("operations that are not served", () => {
  it.each(DRAFTS)(
    "answers 501 in the legacy envelope for %s %s, once the caller is known and counted",
    async (method, path) => {
      const { id, text } = await issue([])
      expect(await ask(api(), path, { method })).toMatchObject({
        status: 401,
        body: { error: { code: "UNAUTHORIZED" } },
      })
      const { status, body, headers } = await ask(api(), `${path}?nonsense=1`, { method, key: text })
      expect([status, body.error.code, headers.get("X-RateLimit-Remaining")]).toEqual([501, "NOT_IMPLEMENTED", "99"])
      await api().setCount(id, 100)
      const spent = await ask(api(), path, { method, key: text })
      expect(spent).toMatchObject({ status: 429, body: { error: { code: "RATE_LIMITED" } } })
    },
  )
})

describe("decoding", () => {
  it.each([
    [`${TOKENS}/abc12`, "INVALID_TOKEN", "token"],
    [`${TOKENS}/abc1234`, "INVALID_TOKEN", "token"],
    [`${TOKENS}/`, "INVALID_TOKEN", "token"],
    [`${TOKENS}/${"a".repeat(200)}`, "INVALID_TOKEN", "token"],
    [`${TOKENS}/abc%2Fde`, "INVALID_TOKEN", "token"],
    [`${TOKENS}/abc123?expand[]=recipient`, "INVALID_EXPAND", "expand[]"],
    [`${TOKENS}/abc123?expand%5B%5D=`, "INVALID_EXPAND", "expand[]"],
    [`${TOKENS}/abc123?expand=campaign`, "INVALID_PARAMETER", "expand"],
    [TOKENS, "MISSING_PARAMETER", "since"],
    [`${TOKENS}?since=`, "INVALID_PARAMETER", "since"],
    [`${TOKENS}?since=2026-01-01T00:00:00+02:00`, "INVALID_PARAMETER", "since"],
    [`${TOKENS}?${SINCE}&${SINCE}`, "INVALID_PARAMETER", "since"],
    [`${TOKENS}?${SINCE}&limit=0`, "INVALID_PARAMETER", "limit"],
    [`${TOKENS}?${SINCE}&limit=501`, "INVALID_PARAMETER", "limit"],
    [`${TOKENS}?${SINCE}&limit=1e2`, "INVALID_PARAMETER", "limit"],
    [`${TOKENS}?${SINCE}&cursor=`, "INVALID_PARAMETER", "cursor"],
    [`${TOKENS}?${SINCE}&cursor=abc`, "INVALID_PARAMETER", "cursor"],
    [`${TOKENS}?${SINCE}&Limit=1`, "INVALID_PARAMETER", "Limit"],
    ["/v1/health?a=1", "INVALID_PARAMETER", "a"],
  ])("answers %s with %s about %s", async (target, code, parameter) => {
    const { text } = await issue()
    const { status, body } = await ask(api(), target, { key: text })
    expect([status, body.error.code, body.error.details]).toEqual([400, code, { parameter }])
  })
})

describe("pages outside the contract", () => {
  it("says that it is ready while the database answers", async () => {
    expect(await ask(api(), "/readyz")).toMatchObject({ status: 200, body: { status: "ready" } })
  })

  it("allows no other origin to read", async () => {
    const { headers } = await ask(api(), "/v1/health", { headers: { Origin: "https://elsewhere.test" } })
    expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([])
  })
})
