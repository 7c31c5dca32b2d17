import { SCOPES } from "@outreach/contract"
import { beforeAll, describe, expect, it } from "vitest"
import { ask } from "../ask.ts"
import { startApi, type TestApi } from "../startApi.ts"

const api = startApi()
let organizationId: Parameters<TestApi["issue"]>[0]
beforeAll(async () => {
  organizationId = (await api().seed(1)).organization.id
})
const issue = () => api().issue(organizationId, SCOPES)

const PARTNER = "/v1/partners/consumer"
const LIST = `${PARTNER}/tokens?since=2026-01-01T00:00:00Z`
const AUTHENTICATED = [
  ["GET", `${PARTNER}/tokens/zzzzzz`],
  ["GET", LIST],
  ["GET", `${PARTNER}/events?since=2026-01-01T00:00:00Z`],
  ["GET", `${PARTNER}/campaigns/cmp_0199/recipients`],
  ["GET", `${PARTNER}/digest?date=2026-01-01`],
  ["POST", "/v1/surveys"],
  ["POST", "/v1/surveys/validate"],
  ["GET", "/v1/uploads/presign?filename=case.pdf"],
] as const

describe("the request rate", () => {
  it("is counted over all authenticated endpoints, which return integer rate-limit headers and X-Request-Id", async () => {
    const { text } = await issue()
    const before = await api().charged(organizationId)
    for (const [i, [method, target]] of AUTHENTICATED.entries()) {
      const { headers } = await ask(api(), target, { method, key: text })
      expect(headers.get("X-RateLimit-Limit")).toBe("100")
      for (const name of ["X-RateLimit-Remaining", "X-RateLimit-Reset"]) expect(headers.get(name)).toMatch(/^\d+$/)
      expect(headers.get("X-Request-Id")).toMatch(/^req_[0-9a-f]+$/)
      expect(await api().charged(organizationId)).toBe(before + 1 + i)
    }
  })

  it("rejects every retry until the window ends, and retries don't extend the window", async () => {
    const { id, text } = await issue()
    await api().setCount(id, 100)
    for (let i = 0; i < 3; i++) {
      const asked = Date.now() / 1000
      const { status, headers } = await ask(api(), LIST, { key: text })
      const answered = Date.now() / 1000
      expect([status, headers.get("X-RateLimit-Remaining")]).toEqual([429, "0"])
      // The wait ends with the window, rounded up to a second.
      const wait = Number(headers.get("Retry-After"))
      expect(Number.isInteger(wait) && wait >= 1 && wait <= 60).toBe(true)
      const opens = Number(headers.get("X-RateLimit-Reset")) - wait
      expect(opens).toBeGreaterThan(asked - 1.1)
      expect(opens).toBeLessThan(answered + 0.1)
    }
  })
})

describe("the rate window", () => {
  it("is the clock minute: it resets at the next full one", async () => {
    const { text } = await issue()
    const before = Math.floor(Date.now() / 60_000)
    const { headers } = await ask(api(), LIST, { key: text })
    const after = Math.floor(Date.now() / 60_000)
    const reset = Number(headers.get("X-RateLimit-Reset")) / 60
    expect(reset).toBeGreaterThanOrEqual(before + 1)
    expect(reset).toBeLessThanOrEqual(after + 1)
  })
})
