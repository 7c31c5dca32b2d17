import { SCOPES } from "@outreach/contract"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { apiKeyText } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository, rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { value } from "@outreach/testing/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
let organizationId: OrganizationId
let token: string
beforeAll(async () => {
  organizationId = (await api().seed(1)).organization.id
  token = await api().run(value<string>`select token from recipients`)
})
const issue = (scopes: Parameters<ReturnType<typeof api>["issue"]>[1] = SCOPES) => api().issue(organizationId, scopes)

const TOKENS = "/v1/partners/consumer/tokens"
const DRAFTS = [
  ["POST", "/v1/surveys"],
  ["POST", "/v1/surveys/validate"],
  ["GET", "/v1/uploads/presign"],
] as const

it("every response has a new request id, never the caller's, and allows no other origin to read", async () => {
  const headers = {
    "X-Request-Id": "req_0199c2f27e1b7c3e8d5a4b6f90a1c2d8",
    Origin: "https://elsewhere.test",
    "Access-Control-Request-Method": "GET",
  }
  const ids = new Set<string>()
  for (const target of ["/v1/health", "/nowhere", TOKENS, "/readyz"]) {
    for (const method of ["GET", "HEAD", "OPTIONS"]) {
      const answer = await ask(api(), target, { method, headers })
      ids.add(answer.headers.get("X-Request-Id")!)
      const forbidden = /^access-control|^deprecation$|^sunset$/
      expect([...answer.headers.keys()].filter((name) => forbidden.test(name))).toEqual([])
    }
  }
  expect(ids.size).toBe(12)
  expect(ids).not.toContain(headers["X-Request-Id"])
})

describe("paths and methods", () => {
  it.each([
    ...["/", "/v1", "/v1/health/", "/V1/health", "/v1//health", "/v1/health;a=1", `${TOKENS}/a/b`],
    ...["/health", "/v2/health", "/partners/consumer/tokens", "/surveys", "/docs/", "/openapi.json"],
  ])("answers NOT_FOUND for %s", async (path) => {
    const { status, body, headers } = await ask(api(), path)
    expect([status, body.error.code]).toEqual([404, "NOT_FOUND"])
    expect(headers.get("X-RateLimit-Remaining")).toBe("100")
  })

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
    const answer = await ask(api(), path, { method: "OPTIONS" })
    expect([answer.status, answer.body, answer.headers.get("Allow")]).toEqual([204, null, allow])
    expect((await ask(api(), "/nowhere", { method: "OPTIONS" })).status).toBe(404)
  })

  it("returns the headers of GET for HEAD, without a body", async () => {
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

describe("authentication", () => {
  it("returns the same response for every invalid bearer, and charges no one", async () => {
    const revoked = await issue()
    const expired = await issue()
    const { text } = await issue()
    await api().run(ApiKeyRepository.use((keys) => keys.revoke(revoked.id)))
    await api().run(rotateKey(expired.id, 0))
    const before = await api().charged(organizationId)

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
    expect(await api().charged(organizationId)).toBe(before)
  })

  it.each(["bearer", "BEARER", "Bearer  "])("takes the scheme as %s", async (scheme) => {
    const { text } = await issue()
    const { status } = await ask(api(), `${TOKENS}/${token}`, { headers: { Authorization: `${scheme} ${text}` } })
    expect(status).toBe(200)
  })
})

describe("parameters", () => {
  const EVENTS = "/v1/partners/consumer/events?since=2026-01-01T00:00:00Z"
  it.each([
    [`${TOKENS}/abc-12`, "INVALID_TOKEN", "token"],
    ["/v1/partners/consumer/campaigns/cmp_XYZ/recipients", "INVALID_CAMPAIGN_ID", "id"],
    [TOKENS, "MISSING_PARAMETER", "since"],
    [`${EVENTS}&nonsense=1`, "INVALID_PARAMETER", "nonsense"],
    [`${EVENTS}&limit=501`, "INVALID_PARAMETER", "limit"],
    [`${EVENTS}&expand[]=organization`, "INVALID_EXPAND", "expand[]"],
    [`${EVENTS}&type=outreach.email`, "INVALID_TYPE_FILTER", "type"],
  ])("of %s are rejected with %s about %s", async (target, code, parameter) => {
    const { status, body } = await ask(api(), target, { key: (await issue()).text })
    expect([status, body.error.code, body.error.details]).toEqual([400, code, { parameter }])
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
    }
    expect((await ask(api(), `${TOKENS}/!`, { key: `${text}x` })).status).toBe(401)
    expect((await ask(api(), "/nowhere", { key: text })).status).toBe(404)
  })

  it("gives each key of an organization its own count", async () => {
    const [one, other] = [await issue(), await issue()]
    await api().setCount(one.id, 100)
    expect((await ask(api(), `${TOKENS}/${token}`, { key: one.text })).status).toBe(429)
    expect((await ask(api(), `${TOKENS}/${token}`, { key: other.text })).headers.get("X-RateLimit-Remaining")).toBe(
      "99",
    )
  })

  it("rejects a key that is known to be over its limit without a database query", async () => {
    const { id, text } = await issue()
    await api().setCount(id, 100)
    expect((await ask(api(), `${TOKENS}/${token}`, { key: text })).status).toBe(429)
    const before = await api().charged(organizationId)
    const again = await ask(api(), `${TOKENS}/${token}`, { key: text })
    // If the minute ended in between, the next window is used up too and was read once.
    expect(again.status).toBe(429)
    expect((await api().charged(organizationId)) - before).toBeLessThanOrEqual(1)
  })
})

describe("the accepted media type", () => {
  it.each([
    ...(["text/html", "application/json;q=0", "application/xml, text/*;q=0.5", "nonsense"] as const).map(
      (accept) => [accept, 406] as const,
    ),
    ...["", "*/*", "application/*;q=0.1", "text/html, application/json;q=0.9", "application/json; charset=utf-8"].map(
      (accept) => [accept, 200] as const,
    ),
  ])("is read from Accept: %s gets %d", async (accept, expected) => {
    const { text } = await issue()
    const { status, body } = await ask(api(), `${TOKENS}/${token}`, { key: text, headers: { Accept: accept } })
    expect([status, body.error?.code]).toEqual([expected, expected === 406 ? "NOT_ACCEPTABLE" : undefined])
  })

  it("is checked after the key and the scope, and before the parameters", async () => {
    const headers = { Accept: "text/html" }
    expect((await ask(api(), `${TOKENS}/!`, { key: (await issue()).text, headers })).status).toBe(406)
    expect((await ask(api(), `${TOKENS}/!`, { headers })).status).toBe(401)
    expect((await ask(api(), `${TOKENS}/!`, { key: (await issue([])).text, headers })).status).toBe(403)
    expect((await ask(api(), "/v1/health", { headers })).status).toBe(406)
  })
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
