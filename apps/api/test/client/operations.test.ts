import { type ApiError, createClient, type Fetch } from "@outreach/client"
import {
  Digest,
  eventExamples,
  FEED_EVENT_TYPES,
  FeedEvent,
  Health,
  RecipientRecord,
  SCOPES,
  type SurveyInput,
} from "@outreach/contract"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { type Effect, Redacted } from "effect"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, startApi, type TestApi } from "../startApi.ts"

const SINCE = "2026-01-01T00:00:00Z"
const SURVEY: SurveyInput = { title: "Title", estimatedTime: { min: 1, max: 2 }, incentive: 5 }

const api = startApi()
let seed: Effect.Success<ReturnType<typeof seedCampaign>>
let key: Awaited<ReturnType<TestApi["issue"]>>
beforeAll(async () => {
  seed = await api().run(seedCampaign({ recipients: 5 }))
  key = await api().issue(seed.organization.id, SCOPES)
  await api().run(publishOutcomes(seed.campaign, FEED_EVENT_TYPES))
})

const start = (
  options: Partial<Parameters<typeof createClient>[0]> = {},
  after?: Parameters<typeof observeFetch>[0],
) => {
  const { fetch, attempts } = observeFetch(after)
  return { client: createClient({ apiKey: key.text, baseUrl: api().url, fetch, ...options }), attempts }
}
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: ApiError) => error,
  )

describe("the client asks the API", () => {
  it("for its health", async () => {
    const health = await start().client.getHealth()
    expect(Health.parse(health)).toEqual(health)
  })

  it("for every record, event and recipient of a campaign, page by page", async () => {
    const { client, attempts } = start()
    const records = await Array.fromAsync(client.listTokens({ since: SINCE, limit: 2, expand: ["campaign"] }))
    const events = await Array.fromAsync(client.listEvents({ since: SINCE, limit: 2, expand: ["program"] }))
    const recipients = await Array.fromAsync(client.listCampaignRecipients(seed.campaign.id, { limit: 2 }))
    for (const record of records) expect(RecipientRecord.parse(record)).toEqual(record)
    for (const event of events) expect(FeedEvent.parse(event)).toEqual(event)
    expect(records.map(({ campaign }) => campaign?.id)).toEqual(Array(5).fill(seed.campaign.id))
    expect(events.map(({ program }) => program?.id)).toEqual(Array(4).fill(seed.program.id))
    expect(recipients.map(({ token }) => token)).toEqual(records.map(({ token }) => token))
    expect(attempts.map(({ status }) => status)).toEqual(Array(3 + 2 + 3).fill(200))
  })

  it("for events of some types alone", async () => {
    const types = ["outreach.email_sent", "outreach.email_clicked"] as const
    const events = await Array.fromAsync(start().client.listEvents({ since: SINCE, types }))
    expect(new Set(events.map(({ event_type }) => event_type))).toEqual(new Set(types))
  })

  it("for the digest of a day", async () => {
    const digest = await start().client.getDigest("2026-11-20")
    expect(Digest.parse(digest)).toEqual(digest)
    expect(digest.data.map(({ program }) => program.id)).toEqual([seed.program.id])
  })

  it("with a request id and a rate limit in each answer, which it shows beside the result", async () => {
    const { client } = start()
    const [first, second] = [await client.getDigest("2026-11-20"), await client.getDigest("2026-11-20")].map((digest) =>
      client.responseOf(digest),
    )
    for (const response of [first, second]) {
      expect(response).toMatchObject({ status: 200, requestId: expect.stringMatching(/^req_[0-9a-f]+$/) })
      expect(response!.rateLimit!.remaining).toBeLessThan(response!.rateLimit!.limit)
      expect(response!.rateLimit!.reset % 60).toBe(0)
    }
    expect(first!.requestId).not.toBe(second!.requestId)
  })

  it("at an address that ends in /v1, from a Date on", async () => {
    const { client } = start({ baseUrl: `${api().url}/v1/` })
    const records = await Array.fromAsync(client.listTokens({ since: new Date(SINCE) }))
    expect(records).toHaveLength(5)
  })

  it("to take an event, which it signs", async () => {
    const { client } = start()
    const event = eventExamples["clinician.account_created"]
    const secrets = [Redacted.value(seed.secret)]
    expect(await client.sendEvent(seed.endpoint.id, event, { secrets })).toEqual({ received: true })
    const refused = client.sendEvent(seed.endpoint.id, event, { secrets: ["whsec_of_somebody_else"] })
    expect(await failure(refused)).toMatchObject({
      type: "authentication_error",
      code: "INVALID_SIGNATURE",
      status: 401,
    })
  })

  it("once for each draft, and tells that it is not served", async () => {
    const { client, attempts } = start()
    const calls = [client.createSurvey(SURVEY), client.validateSurvey(SURVEY), client.presignUpload("a.pdf")]
    for (const error of await Promise.all(calls.map(failure))) {
      expect(error).toMatchObject({ name: "ApiError", type: "api_error", code: "NOT_IMPLEMENTED", status: 501 })
      expect(error.requestId).toMatch(/^req_[0-9a-f]{32}$/)
    }
    expect(attempts).toHaveLength(3)
  })
})

describe("a record", () => {
  it("comes from the client's memory while the API answers 304, and anew once it has changed", async () => {
    const { client, attempts } = start()
    const [record] = await Array.fromAsync(client.listTokens({ since: SINCE, limit: 1 }))
    const first = await client.getToken(record!.token)
    expect(first).toEqual(record)
    expect(await client.getToken(record!.token)).toEqual(first)
    await api().run(publishOutcomes(seed.campaign, ["outreach.email_sent"]))
    const expanded = await client.getToken(record!.token, { expand: ["program"] })
    expect(expanded.program?.id).toBe(seed.program.id)
    const lookups = attempts.filter(({ url }) => url.includes(`/tokens/${record!.token}`))
    expect(lookups.map(({ status }) => status)).toEqual([200, 304, 200])
  })
})

describe("a refusal of the API", () => {
  it.each([
    ["an unknown token", (client: ReturnType<typeof createClient>) => client.getToken("zzzzzz"), "TOKEN_NOT_FOUND"],
    ["a malformed token", (client: ReturnType<typeof createClient>) => client.getToken("no token"), "INVALID_TOKEN"],
    [
      "a date that does not exist",
      (client: ReturnType<typeof createClient>) => client.getDigest("2026-02-30"),
      "INVALID_PARAMETER",
    ],
  ] as const)("is an ApiError, after one attempt: %s", async (_, call, code) => {
    const { client, attempts } = start()
    const error = await failure(call(client))
    expect(error).toMatchObject({ name: "ApiError", type: "invalid_request_error", code })
    expect(error.requestId).toBe(attempts[0]!.headers.get("X-Request-Id"))
    expect(error.docUrl).toMatch(new RegExp(`/errors#${code}$`))
    expect(attempts).toHaveLength(1)
  })

  it("of a key that may not is told from one of a key that is none", async () => {
    const { text } = await api().issue(seed.organization.id, ["tokens:read"])
    const narrow = start({ apiKey: text })
    expect(await failure(narrow.client.getDigest("2026-11-20"))).toMatchObject({
      code: "INSUFFICIENT_SCOPE",
      type: "permission_error",
    })
    const none = start({ apiKey: "orp_test_none" })
    expect(await failure(none.client.getDigest("2026-11-20"))).toMatchObject({
      code: "UNAUTHORIZED",
      type: "authentication_error",
    })
    expect([narrow.attempts.length, none.attempts.length]).toEqual([1, 1])
  })
})

describe("a key over its limit", () => {
  it("waits at least as long as the API says before it asks again", async () => {
    const busy = await api().issue(seed.organization.id, SCOPES)
    await api().setCount(busy.id, 100)
    // A process that has seen a key over its limit refuses it until the minute ends: another plays the next minute.
    const { url: later, stop } = await runApi(api().databaseUrl, { DEPLOYMENT: "staging", DOCS_URL })
    onTestFinished(stop)
    let minuteIsOver = false
    const waits: Array<number> = []
    const sleep = async (milliseconds: number) => {
      waits.push(milliseconds / 1000)
      await api().setCount(busy.id, 0)
      minuteIsOver = true
    }
    const { fetch, attempts } = observeFetch()
    const client = createClient({
      apiKey: busy.text,
      baseUrl: api().url,
      sleep,
      fetch: (url, request) => fetch(minuteIsOver ? url.replace(api().url, later) : url, request),
    })
    expect((await client.getDigest("2026-11-20")).object).toBe("digest")
    expect(attempts.map(({ status }) => status)).toEqual([429, 200])
    expect(waits[0]).toBeGreaterThanOrEqual(Number(attempts[0]!.headers.get("Retry-After")))
  })
})

describe("an idempotency key", () => {
  it("is the same in the repeat of a request whose answer was lost, which the API answers as the first", async () => {
    const { client, attempts } = start({ sleep: async () => {} }, (_, count) => {
      if (count === 1) throw new TypeError("fetch failed")
    })
    await client.getDigest("2026-11-19", { idempotencyKey: `digest ${process.pid}` })
    expect(
      attempts.map(({ status, idempotencyKey, headers }) => [
        status,
        idempotencyKey,
        headers.get("Idempotent-Replayed"),
      ]),
    ).toEqual([
      [200, `digest ${process.pid}`, null],
      [200, `digest ${process.pid}`, "true"],
    ])
  })

  it("that was given with another request is refused, and not tried again", async () => {
    const { client, attempts } = start()
    const idempotencyKey = `reused ${process.pid}`
    await client.getDigest("2026-11-18", { idempotencyKey })
    expect(await failure(client.getDigest("2026-11-17", { idempotencyKey }))).toMatchObject({
      type: "idempotency_error",
      code: "IDEMPOTENCY_KEY_REUSED",
      status: 409,
    })
    expect(attempts).toHaveLength(2)
  })
})

/** One attempt of a client, as it came back. */
interface Attempt {
  readonly url: string
  readonly status: number
  readonly headers: Headers
  readonly idempotencyKey: string | undefined
}

/** Creates a `fetch` that notes each attempt once its answer was read; what `after` throws is all that the client learns of it. */
const observeFetch = (
  after: (attempt: Attempt, count: number) => void = () => {},
): { readonly fetch: Fetch; readonly attempts: Array<Attempt> } => {
  const attempts: Array<Attempt> = []
  return {
    attempts,
    fetch: async (url, request) => {
      const response = await fetch(url, request)
      const { status, headers } = response
      const body = await response.text()
      const attempt = { url, status, headers, idempotencyKey: request.headers["Idempotency-Key"] }
      after(attempt, attempts.push(attempt))
      return { status, headers, text: async () => body }
    },
  }
}
