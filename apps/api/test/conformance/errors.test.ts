import { SCOPES } from "@outreach/contract"
import { beforeAll, describe, expect, it } from "vitest"
import * as z from "zod"
import { type Answer, ask } from "../ask.ts"
import { DOCS_URL, startApi } from "../startApi.ts"

const api = startApi()
const PARTNER = "/v1/partners/consumer"
const LIST = `${PARTNER}/tokens?since=2026-01-01T00:00:00Z`
const RATE_LIMIT_HEADERS = ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]

/** The specification's error codes, each with an observed error. */
const CODES = [
  ["UNAUTHORIZED", "authentication_error", 401, "bearer missing, malformed, expired or revoked"],
  ["INSUFFICIENT_SCOPE", "permission_error", 403, "token lacks the required scope"],
  ["INVALID_TOKEN", "invalid_request_error", 400, "URL token does not match [0-9A-Za-z]{6}"],
  ["INVALID_CAMPAIGN_ID", "invalid_request_error", 400, "campaign id is not the cmp_<hex> form"],
  ["TOKEN_NOT_FOUND", "invalid_request_error", 404, "no record for the token"],
  ["MISSING_PARAMETER", "invalid_request_error", 400, "a required query or body parameter is missing"],
  ["INVALID_PARAMETER", "invalid_request_error", 400, "parameter present but wrong type, format or value"],
  ["INVALID_EXPAND", "invalid_request_error", 400, "value in expand[] not allowed for the endpoint"],
  ["INVALID_TYPE_FILTER", "invalid_request_error", 400, "value in type or types[] outside the allowed enum"],
  ["IDEMPOTENCY_KEY_REUSED", "idempotency_error", 409, "same Idempotency-Key with another request"],
  ["RATE_LIMITED", "rate_limit_error", 429, "key exceeded its rate limit"],
  ["INTERNAL_ERROR", "api_error", 500, "unexpected server error"],
] as const
type Code = (typeof CODES)[number][0]
const codes = CODES.map(([code]) => code)

let met: Readonly<Record<Code, Answer>>
beforeAll(async () => {
  const { organization, key } = await api().seed(1)
  const issue = async (scopes: Parameters<ReturnType<typeof api>["issue"]>[1]) => api().issue(organization.id, scopes)
  const over = await issue(SCOPES)
  await api().setCount(over.id, 100)
  const get = (target: string) => ask(api(), target, { key })
  const once = (target: string) => ask(api(), target, { key, headers: { "Idempotency-Key": "one" } })
  met = {
    UNAUTHORIZED: await ask(api(), LIST),
    INSUFFICIENT_SCOPE: await ask(api(), LIST, { key: (await issue([])).text }),
    INVALID_TOKEN: await get(`${PARTNER}/tokens/abc-12`),
    INVALID_CAMPAIGN_ID: await get(`${PARTNER}/campaigns/cmp_XYZ/recipients`),
    TOKEN_NOT_FOUND: await get(`${PARTNER}/tokens/zzzzzz`),
    MISSING_PARAMETER: await get(`${PARTNER}/events`),
    INVALID_PARAMETER: await get(`${LIST}&limit=501`),
    INVALID_EXPAND: await get(`${LIST}&expand[]=recipient`),
    INVALID_TYPE_FILTER: await get(`${PARTNER}/events?since=2026-01-01T00:00:00Z&type=outreach.email`),
    IDEMPOTENCY_KEY_REUSED: await once(LIST).then(() => once(`${LIST}&limit=7`)),
    RATE_LIMITED: await ask(api(), LIST, { key: over.text }),
    INTERNAL_ERROR: await api().whileMissing("recipients", () => get(LIST)),
  }
})

it.each(CODES)("the code %s has the type %s and the status %d: %s", (code, type, status) => {
  const { status: answered, body } = met[code]
  expect([body.error.code, body.error.type, answered]).toEqual([code, type, status])
})

describe.each([
  { field: "type", required: true, is: z.enum(CODES.map(([, type]) => type)) },
  { field: "code", required: true, is: z.enum(codes) },
  { field: "message", required: true, is: z.string().min(10) },
  { field: "details", required: false, is: z.record(z.string(), z.unknown()).nullable() },
  { field: "doc_url", required: true, is: z.url() },
  { field: "request_id", required: true, is: z.string().regex(/^req_[0-9a-f]+$/) },
])("the partner envelope has error.$field as its table says", ({ field, required, is }) => {
  it("in every error", () => {
    for (const code of codes) {
      const { error } = met[code].body
      if (required) expect(error, code).toHaveProperty(field)
      if (field in error) expect(is.safeParse(error[field]).error, code).toBeUndefined()
    }
  })
})

describe("the partner envelope", () => {
  it("is all of the body, and has a doc_url of the form {docs_url}/errors#<CODE> and the request_id of the header", () => {
    for (const code of codes) {
      const { body, headers } = met[code]
      expect(Object.keys(body)).toEqual(["error"])
      expect(["type", "code", "message", "details", "doc_url", "request_id"]).toEqual(
        expect.arrayContaining(Object.keys(body.error)),
      )
      expect(body.error.doc_url).toBe(`${DOCS_URL}/errors#${code}`)
      expect(body.error.request_id).toBe(headers.get("X-Request-Id"))
    }
  })

  it("names the parameter in details.parameter for MISSING_PARAMETER", () => {
    expect(met.MISSING_PARAMETER.body.error.details).toEqual({ parameter: "since" })
  })
})

it("the headers of an error are the rate-limit headers and X-Request-Id, and Retry-After with 429 only", () => {
  for (const code of codes) {
    const { headers, status } = met[code]
    for (const name of [...RATE_LIMIT_HEADERS, "X-Request-Id"]) expect(headers.get(name), name).not.toBeNull()
    expect(headers.get("Retry-After")?.match(/^[1-9]\d*$/) != null).toBe(status === 429)
  }
})

describe("an error of an operation without a rate window", () => {
  it.each([
    ["GET", "/v1/health?a=1", 400],
    ["POST", `${PARTNER}/webhooks/whe_${"0".repeat(32)}`, 401],
  ])("carries X-Request-Id, and no rate-limit headers: %s %s", async (method, target, expected) => {
    const { status, headers } = await ask(api(), target, { method })
    expect([status, headers.get("X-Request-Id")]).toEqual([expected, expect.stringMatching(/^req_/)])
    for (const name of RATE_LIMIT_HEADERS) expect(headers.get(name), name).toBeNull()
  })
})
