import { SCOPES } from "@outreach/contract"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeys"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type Answer, ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { settableTime } from "../settableTime.ts"
import { DOCS_URL, startApi, type TestApi } from "../startApi.ts"

const api = startApi()
let key: Awaited<ReturnType<TestApi["issue"]>>
let organizationId: Parameters<TestApi["issue"]>[0]
beforeAll(async () => {
  const { organization } = await api().seed(1)
  organizationId = organization.id
  key = await api().issue(organizationId, SCOPES)
})

const LIST = "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z"

it("a key's limit is exactly 100 requests a minute over all processes, regardless of the responses", async () => {
  const another = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
  onTestFinished(another.stop)
  const { text } = await api().issue(organizationId, ["tokens:read"])
  const targets = [LIST, `${LIST}&limit=0`, "/v1/partners/consumer/digest?date=2026-01-01", "/v1/uploads/presign"]
  const answers = await Promise.all(
    Array.from({ length: 160 }, (_, i) => ask(i % 2 ? api() : another, targets[i % 4]!, { key: text })),
  )
  const charged = answers.filter(({ status }) => status !== 429)
  expect(new Set(charged.map(({ status }) => status))).toEqual(new Set([200, 400, 403, 501]))
  // There are two windows if the minute ends in between.
  const windowOf = ({ headers }: Answer) => headers.get("X-RateLimit-Reset")
  for (const window of new Set(answers.map(windowOf))) {
    const remaining = charged.flatMap((answer) =>
      windowOf(answer) === window ? Number(answer.headers.get("X-RateLimit-Remaining")) : [],
    )
    expect(remaining.sort((a, b) => b - a)).toEqual(remaining.map((_, i) => 99 - i))
    const isRefused = answers.some((answer) => windowOf(answer) === window && answer.status === 429)
    if (isRefused) expect(remaining).toHaveLength(100)
  }
})

it("a key over its limit is rejected until the window ends, and retries don't extend the window", async () => {
  const { id, text } = await api().issue(organizationId, SCOPES)
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

describe("an address that keeps failing to authenticate", () => {
  /** Starts a second API over the same database with a limit of three failures per minute. Its clock moves only when a test sets it. */
  const startStrict = async (settings: Record<string, string> = {}) => {
    const time = settableTime()
    const limit = { DEPLOYMENT: "staging", DOCS_URL, UNAUTHENTICATED_LIMIT: "3" }
    const { url, stop } = await runApi(api().databaseUrl, { ...limit, ...settings }, time.layer)
    onTestFinished(stop)
    const fail = async (from?: string) =>
      ask({ url }, LIST, { key: "nonsense", ...(from && { headers: { "X-Forwarded-For": from } }) })
    const failThrice = async (from?: string) => {
      for (let i = 0; i < 3; i++) expect((await fail(from)).status).toBe(401)
    }
    const statusOf = async (text: string) => (await ask({ url }, LIST, { key: text })).status
    return { url, time, fail, failThrice, statusOf }
  }

  it("must wait until the minute ends", async () => {
    const { url, time, fail, failThrice } = await startStrict()
    await failThrice()
    const { status, headers, body } = await fail()
    expect([status, body.error.code, body.error.type]).toEqual([429, "RATE_LIMITED", "rate_limit_error"])
    expect(headers.get("X-RateLimit-Remaining")).toBe("100")
    const minuteEnds = 60 - Math.floor((time.now / 1000) % 60)
    expect(headers.get("Retry-After")).toBe(String(minuteEnds))
    expect((await ask({ url }, "/v1/health")).status).toBe(200)
    expect((await ask({ url }, "/v1/surveys", { method: "POST" })).body.error.code).toBe("RATE_LIMITED")
    time.now += minuteEnds * 1000
    expect((await fail()).status).toBe(401)
  })

  it("doesn't affect keys at the same address that were valid before", async () => {
    const strict = await startStrict()
    const [fresh, revoked] = [await api().issue(organizationId, SCOPES), await api().issue(organizationId, SCOPES)]
    expect([await strict.statusOf(key.text), await strict.statusOf(revoked.text)]).toEqual([200, 200])
    await strict.failThrice()
    expect([await strict.statusOf(key.text), await strict.statusOf(fresh.text)]).toEqual([200, 429])
    // A previously valid key is looked up, and counts as a failure after it is revoked.
    await api().run(ApiKeyRepository.use((keys) => keys.revoke(revoked.id)))
    expect([await strict.statusOf(revoked.text), await strict.statusOf(revoked.text)]).toEqual([401, 429])
  })

  it("is the address of the connection, regardless of X-Forwarded-For", async () => {
    const { fail, failThrice } = await startStrict()
    await failThrice("192.0.2.1")
    expect((await fail("192.0.2.2")).status).toBe(429)
  })

  it("is only the client's address behind a trusted proxy", async () => {
    const { fail, failThrice } = await startStrict({ TRUST_PROXY: "loopback" })
    await failThrice("203.0.113.9, 192.0.2.1")
    expect((await fail("203.0.113.8, 192.0.2.1")).status).toBe(429)
    expect((await fail("192.0.2.1, 192.0.2.2")).status).toBe(401)
  })
})
