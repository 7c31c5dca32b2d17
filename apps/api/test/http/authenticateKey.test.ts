import { SCOPES } from "@outreach/contract"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, startApi, type TestApi } from "../startApi.ts"

const api = startApi()
let key: Awaited<ReturnType<TestApi["issue"]>>
let organizationId: Parameters<TestApi["issue"]>[0]
beforeAll(async () => {
  const { organization } = await api().run(seedCampaign({ recipients: 1 }))
  organizationId = organization.id
  key = await api().issue(organizationId, SCOPES)
})

const LIST = "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z"

/** Another API over the same database that lets an address fail three times a minute. */
const startStrict = async (settings: Record<string, string> = {}): Promise<TestApi> => {
  const strict = await runApi(api().databaseUrl, {
    DEPLOYMENT: "staging",
    DOCS_URL,
    UNAUTHENTICATED_LIMIT: "3",
    ...settings,
  })
  onTestFinished(strict.stop)
  return { ...api(), url: strict.url }
}

/** Fails to authenticate until the address has to wait, even should a new minute begin meanwhile; answers the statuses. */
const failUntilLimited = async (strict: TestApi, from?: string) => {
  const statuses: Array<number> = []
  while (statuses.at(-1) !== 429 && statuses.length < 12) statuses.push((await fail(strict, from)).status)
  return statuses
}
const fail = (strict: TestApi, from?: string) =>
  ask(strict, LIST, { key: "nonsense", ...(from && { headers: { "X-Forwarded-For": from } }) })

// Should the minute end between two requests, another run is in the next one.
describe("a key's limit", { retry: 3 }, () => {
  it("is 100 over all processes together, to the request, whatever the answers are", async () => {
    const another = await startStrict()
    const { text } = await api().issue(organizationId, ["tokens:read"])
    const targets = [LIST, `${LIST}&limit=0`, "/v1/partners/consumer/digest?date=2026-01-01", "/v1/uploads/presign"]
    const answers = await Promise.all(
      Array.from({ length: 160 }, (_, i) => ask(i % 2 ? api() : another, targets[i % 4]!, { key: text })),
    )
    const charged = answers.filter(({ status }) => status !== 429)
    expect(new Set(charged.map(({ status }) => status))).toEqual(new Set([200, 400, 403, 501]))
    // Each had a place of its own.
    const remaining = charged.map(({ headers }) => Number(headers.get("X-RateLimit-Remaining")))
    expect(remaining.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => i))
  })
})

describe("a frozen organization", () => {
  it("is answered 503, which is charged, until it is served again; another is served meanwhile", async () => {
    const { organization } = await api().run(seedCampaign({ recipients: 1 }))
    const { text } = await api().issue(organization.id, ["tokens:read"])
    const freeze = (frozenAt: string | null) =>
      api().run(
        SqlClient.SqlClient.use(
          (sql) => sql`update organizations set frozen_at = ${frozenAt}::timestamptz where id = ${organization.id}`,
        ),
      )
    await freeze("2026-11-01T00:00:00Z")
    const { status, headers, body } = await ask(api(), LIST, { key: text })
    expect([status, body.error.code, body.error.details]).toEqual([503, "SERVICE_UNAVAILABLE", { retry_after: 5 }])
    expect(Number(headers.get("X-RateLimit-Remaining"))).toBeLessThan(100)
    expect((await ask(api(), LIST, { key: key.text })).status).toBe(200)
    await freeze(null)
    expect((await ask(api(), LIST, { key: text })).status).toBe(200)
  })
})

// As above.
describe("an address that keeps failing to authenticate", { retry: 3 }, () => {
  it("is told to wait after its limit, until the minute ends", async () => {
    const strict = await startStrict()
    const statuses = await failUntilLimited(strict)
    expect(statuses.slice(0, 3)).toEqual([401, 401, 401])
    expect(statuses.at(-1)).toBe(429)
    const { status, headers, body } = await fail(strict)
    expect([status, body.error.code, body.error.type]).toEqual([429, "RATE_LIMITED", "rate_limit_error"])
    expect(headers.get("X-RateLimit-Remaining")).toBe("100")
    const wait = Number(headers.get("Retry-After"))
    expect(wait).toBeGreaterThanOrEqual(1)
    expect(wait).toBeLessThanOrEqual(60)
    expect((await ask(strict, "/v1/health")).status).toBe(200)
    expect((await ask(strict, "/v1/surveys", { method: "POST" })).body.error.code).toBe("RATE_LIMITED")
  })

  it("does not keep those from being served whose keys were good before", async () => {
    const strict = await startStrict()
    expect((await ask(strict, LIST, { key: key.text })).status).toBe(200)
    const fresh = await api().issue(organizationId, SCOPES)
    await failUntilLimited(strict)
    expect((await ask(strict, LIST, { key: key.text })).status).toBe(200)
    expect((await ask(strict, LIST, { key: fresh.text })).status).toBe(429)
    // A key that was good before is asked about, and counts as a failure once it is revoked.
    const revoked = await api().issue(organizationId, SCOPES)
    const lenient = await startStrict({ UNAUTHENTICATED_LIMIT: "1" })
    expect((await ask(lenient, LIST, { key: revoked.text })).status).toBe(200)
    await api().run(Effect.flatMap(ApiKeyRepository, (keys) => keys.revoke(revoked.id)))
    expect((await ask(lenient, LIST, { key: revoked.text })).status).toBe(401)
    expect((await failUntilLimited(lenient)).at(-1)).toBe(429)
  })

  it("is whoever connects, whatever X-Forwarded-For says", async () => {
    const strict = await startStrict()
    await failUntilLimited(strict, "192.0.2.1")
    expect((await fail(strict, "192.0.2.2")).status).toBe(429)
  })

  it("is the client behind a proxy that is trusted, and nobody else behind it", async () => {
    const strict = await startStrict({ TRUST_PROXY: "loopback" })
    await failUntilLimited(strict, "203.0.113.9, 192.0.2.1")
    expect((await fail(strict, "203.0.113.8, 192.0.2.1")).status).toBe(429)
    expect((await fail(strict, "192.0.2.1, 192.0.2.2")).status).toBe(401)
  })
})
