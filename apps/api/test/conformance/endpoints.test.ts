import { SCOPES, type Scope } from "@outreach/contract"
import { sql } from "@outreach/testing/sql"
import fc from "fast-check"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { type Seeded, startApi } from "../startApi.ts"
import { type Resources, seedResources } from "./seedResources.ts"

const api = startApi()
let seed: Seeded
let resources: Resources
beforeAll(async () => {
  seed = await api().seed(0)
  resources = await seedResources(api())
})
const keyWith = async (scopes: ReadonlyArray<Scope>) => (await api().issue(seed.organization.id, scopes)).text

const PARTNER = "/v1/partners/consumer"
const TOKENS = `${PARTNER}/tokens`
const SINCE = "since=2026-01-01T00:00:00Z"

/** Endpoints that require a scope, with their response to a key that has it. */
const SCOPED = [
  {
    endpoint: "GET /v1/partners/consumer/tokens/{token}",
    scope: "tokens:read",
    target: `${TOKENS}/zzzzzz`,
    status: 404,
  },
  { endpoint: "GET /v1/partners/consumer/tokens", scope: "tokens:read", target: `${TOKENS}?${SINCE}`, status: 200 },
  {
    endpoint: "GET /v1/partners/consumer/events",
    scope: "events:read",
    target: `${PARTNER}/events?${SINCE}`,
    status: 200,
  },
  {
    endpoint: "GET /v1/partners/consumer/campaigns/{id}/recipients",
    scope: "recipients:read",
    target: `${PARTNER}/campaigns/cmp_0199/recipients`,
    status: 200,
  },
  {
    endpoint: "GET /v1/partners/consumer/digest",
    scope: "digest:read",
    target: `${PARTNER}/digest?date=2026-01-01`,
    status: 200,
  },
] as const

// %s, because $endpoint is cut at forty characters.
describe.each(SCOPED.map((row) => [row.endpoint, row] as const))("%s", (_endpoint, { scope, target, status }) => {
  it("requires a bearer credential: 401 without", async () => {
    const { status, body } = await ask(api(), target)
    expect([status, body.error.code]).toEqual([401, "UNAUTHORIZED"])
  })

  it(`serves a key with only ${scope}, and returns 403 for a key with every other scope`, async () => {
    expect((await ask(api(), target, { key: await keyWith([scope]) })).status).toBe(status)
    const others = SCOPES.filter((other) => other !== scope)
    const refused = await ask(api(), target, { key: await keyWith(others) })
    expect([refused.status, refused.body.error.code, refused.body.error.type]).toEqual([
      403,
      "INSUFFICIENT_SCOPE",
      "permission_error",
    ])
  })

  it("returns 400 for an unknown parameter", async () => {
    const { status, body } = await ask(api(), `${target}${target.includes("?") ? "&" : "?"}nonsense=1`, {
      key: await keyWith([scope]),
    })
    expect([status, body.error.code, body.error.details]).toEqual([400, "INVALID_PARAMETER", { parameter: "nonsense" }])
  })
})

it("Idempotency-Key is accepted by every authenticated endpoint", async () => {
  for (const { target, scope } of SCOPED) {
    const options = { key: await keyWith([scope]), headers: { "Idempotency-Key": `of ${target}` } }
    const answers = [await ask(api(), target, options), await ask(api(), target, options)]
    expect(answers.map(({ headers }) => headers.get("Idempotent-Replayed"))).toEqual([null, "true"])
    expect(answers[1]!.body).toEqual(answers[0]!.body)
  }
})

it("GET /v1/health needs no authentication, looks at none, and has no rate limit", async () => {
  const spent = await api().issue(seed.organization.id, [])
  await api().setCount(spent.id, 100)
  for (const key of [undefined, "nonsense", spent.text]) {
    const { status, headers } = await ask(api(), "/v1/health", key === undefined ? {} : { key })
    expect([status, headers.get("X-RateLimit-Limit")]).toEqual([200, null])
  }
})

describe("GET /v1/partners/consumer/tokens/{token}", () => {
  it("takes exactly the tokens of ^[0-9A-Za-z]{6}$", async () => {
    const character = fc.constantFrom(..."09azAZbY5-_.~é０")
    const token = fc.oneof(
      fc.string({ unit: character, minLength: 1, maxLength: 8 }),
      fc.string({ unit: fc.constantFrom(..."09azAZ"), minLength: 5, maxLength: 7 }),
    )
    await fc.assert(
      fc.asyncProperty(token, async (token) => {
        fc.pre(!/^\.{1,2}$/.test(token))
        const key = await keyWith(SCOPES)
        const { body } = await ask(api(), `${TOKENS}/${encodeURIComponent(token)}`, { key })
        expect(body.error.code).toBe(/^[0-9A-Za-z]{6}$/.test(token) ? "TOKEN_NOT_FOUND" : "INVALID_TOKEN")
      }),
    )
  })

  it.each([200, 304])(
    "%d carries a strong ETag, Cache-Control, the rate-limit headers and X-Request-Id",
    async (expected) => {
      const { status, headers, body } = await ask(api(), `${TOKENS}/${resources.tokens[0]}`, {
        key: resources.key,
        headers: expected === 304 ? { "If-None-Match": "*" } : {},
      })
      expect([status, body === null]).toEqual([expected, expected === 304])
      expect(headers.get("ETag")).toMatch(/^"[^"]+"$/)
      expect(headers.get("Cache-Control")).toBe("private, max-age=10, must-revalidate")
      for (const name of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id"]) {
        expect(headers.get(name), name).not.toBeNull()
      }
    },
  )
})

it("GET /v1/partners/consumer/tokens orders by updated_at and then by id, from page to page", async () => {
  const { organization, key } = await api().seed(6)
  const page = async (query: string) => (await ask(api(), `${TOKENS}?${SINCE}&${query}`, { key })).body
  type Row = { service_recipient_id: string; updated_at: string }
  const idsOf = ({ data }: { data: ReadonlyArray<Row> }) => data.map((row) => row.service_recipient_id)
  const imported = idsOf(await page(""))
  expect(imported).toEqual([...imported].sort())
  const [first, second, ...others] = imported
  await api().run(sql`
    update recipients set updated_at = updated_at + interval '1 microsecond'
    where organization_id = ${organization.id} and id in (${first!}, ${second!})`)
  const seen: Array<string> = []
  for (let body = await page("limit=2"); ; body = await page(`limit=2&cursor=${body.next_cursor}`)) {
    seen.push(...idsOf(body))
    if (!body.has_more) break
  }
  expect(seen).toEqual([...others, first, second])
})

describe("GET /v1/partners/consumer/events", () => {
  const list = async (query = "") =>
    (await ask(api(), resources.lists.events + query, { key: resources.key })).body.data

  it("contains the four outreach.email_* types, with is_bot_suspected on opens and clicks", async () => {
    const rows: ReadonlyArray<{ event_type: string; data: object }> = await list()
    expect(rows.map(({ event_type, data }) => `${event_type} ${"is_bot_suspected" in data}`).sort()).toEqual([
      "outreach.email_bounced false",
      "outreach.email_clicked true",
      "outreach.email_opened true",
      "outreach.email_sent false",
    ])
  })

  it("backfills history from an early since", async () => {
    const early = await ask(api(), `${PARTNER}/events?since=1970-01-01T00:00:00Z`, { key: resources.key })
    expect(early.body.data).toEqual(await list())
    const late = await ask(api(), `${PARTNER}/events?since=2999-01-01T00:00:00Z`, { key: resources.key })
    expect(late.body.data).toEqual([])
  })
})

it.each([
  ["", "MISSING_PARAMETER"],
  ["?date=", "INVALID_PARAMETER"],
  ["?date=2026-02-30", "INVALID_PARAMETER"],
  ["?date=2026-1-1", "INVALID_PARAMETER"],
  ["?date=2026-01-01T00:00:00Z", "INVALID_PARAMETER"],
])("GET /v1/partners/consumer/digest requires a calendar date: %j is %s", async (query, code) => {
  const { status, body } = await ask(api(), `${PARTNER}/digest${query}`, { key: resources.key })
  expect([status, body.error.code, body.error.details]).toEqual([400, code, { parameter: "date" }])
})
