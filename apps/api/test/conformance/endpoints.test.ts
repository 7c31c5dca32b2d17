import { SCOPES, type Scope } from "@outreach/contract"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { type Seeded, startApi } from "../startApi.ts"

const api = startApi()
let seed: Seeded
beforeAll(async () => {
  seed = await api().seed(0)
})
const keyWith = async (scopes: ReadonlyArray<Scope>) => (await api().issue(seed.organization.id, scopes)).text

const PARTNER = "/v1/partners/consumer/"
const SINCE = "since=2026-01-01T00:00:00Z"

/** Endpoints that require a scope, with their response to a key that has it. */
const SCOPED = [
  ["tokens/{token}", "tokens:read", "tokens/zzzzzz", 404],
  ["tokens", "tokens:read", `tokens?${SINCE}`, 200],
  ["events", "events:read", `events?${SINCE}`, 200],
  ["campaigns/{id}/recipients", "recipients:read", "campaigns/cmp_0199/recipients", 200],
  ["digest", "digest:read", "digest?date=2026-01-01", 200],
] as const

describe.each(SCOPED)("GET /v1/partners/consumer/%s", (_, scope, target, status) => {
  it(`serves a key with only ${scope}, and returns 403 for a key with every other scope`, async () => {
    expect((await ask(api(), PARTNER + target, { key: await keyWith([scope]) })).status).toBe(status)
    const others = SCOPES.filter((other) => other !== scope)
    const refused = await ask(api(), PARTNER + target, { key: await keyWith(others) })
    expect([refused.status, refused.body.error.code, refused.body.error.type]).toEqual([
      403,
      "INSUFFICIENT_SCOPE",
      "permission_error",
    ])
  })
})

it("Idempotency-Key is accepted by every authenticated endpoint", async () => {
  for (const [, scope, target] of SCOPED) {
    const options = { key: await keyWith([scope]), headers: { "Idempotency-Key": `of ${target}` } }
    const answers = [await ask(api(), PARTNER + target, options), await ask(api(), PARTNER + target, options)]
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
