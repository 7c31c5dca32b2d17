import { type ApiError, createClient, type Fetch } from "@outreach/client"
import { Digest, eventExamples, FEED_EVENT_TYPES, FeedEvent, Health, RecipientRecord, SCOPES } from "@outreach/contract"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { type Effect, Redacted } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi, type TestApi } from "../startApi.ts"

const SINCE = "2026-01-01T00:00:00Z"

const api = startApi()
let seed: Effect.Success<ReturnType<typeof seedCampaign>>
let key: Awaited<ReturnType<TestApi["issue"]>>
beforeAll(async () => {
  seed = await api().run(seedCampaign({ recipients: 5 }))
  key = await api().issue(seed.organization.id, SCOPES)
  await api().run(publishOutcomes(seed.campaign, FEED_EVENT_TYPES))
})

const start = (options: Partial<Parameters<typeof createClient>[0]> = {}) => {
  const { fetch, attempts } = observeFetch()
  return { client: createClient({ apiKey: key.text, baseUrl: api().url, fetch, ...options }), attempts }
}
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: ApiError) => error,
  )

describe("the client asks the API", () => {
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

  it("for the digest of a day, its health and events of some types", async () => {
    const digest = await start().client.getDigest("2026-11-20")
    expect(Digest.parse(digest)).toEqual(digest)
    expect(digest.data.map(({ program }) => program.id)).toEqual([seed.program.id])
    const health = await start().client.getHealth()
    expect(Health.parse(health)).toEqual(health)
    const types = ["outreach.email_sent", "outreach.email_clicked"] as const
    const events = await Array.fromAsync(start().client.listEvents({ since: new Date(SINCE), types }))
    expect(new Set(events.map(({ event_type }) => event_type))).toEqual(new Set(types))
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
})

describe("a record", () => {
  it("comes from the client's memory while the API answers 304, and anew once it has changed", async () => {
    const { organization, campaign, program } = await api().run(seedCampaign({ recipients: 1 }))
    const { client, attempts } = start({ apiKey: (await api().issue(organization.id, SCOPES)).text })
    const [record] = await Array.fromAsync(client.listTokens({ since: SINCE, limit: 1 }))
    const first = await client.getToken(record!.token)
    expect(first).toEqual(record)
    expect(await client.getToken(record!.token)).toEqual(first)
    await api().run(publishOutcomes(campaign, ["outreach.email_sent"]))
    const expanded = await client.getToken(record!.token, { expand: ["program"] })
    expect(expanded.program?.id).toBe(program.id)
    const lookups = attempts.filter(({ url }) => url.includes(`/tokens/${record!.token}`))
    expect(lookups.map(({ status }) => status)).toEqual([200, 304, 200])
  })
})

describe("a refusal of the API", () => {
  type Client = ReturnType<typeof createClient>
  it.each<[string, string, (client: Client) => Promise<unknown>]>([
    ["TOKEN_NOT_FOUND", "invalid_request_error", (client) => client.getToken("zzzzzz")],
    ["INVALID_TOKEN", "invalid_request_error", (client) => client.getToken("no token")],
    ["INVALID_PARAMETER", "invalid_request_error", (client) => client.getDigest("2026-02-30")],
    ["INSUFFICIENT_SCOPE", "permission_error", (client) => client.getDigest("2026-11-20")],
  ])("is an ApiError after one attempt: %s", async (code, type, call) => {
    const { text } = await api().issue(seed.organization.id, code === "INSUFFICIENT_SCOPE" ? ["tokens:read"] : SCOPES)
    const { client, attempts } = start({ apiKey: text })
    const error = await failure(call(client))
    expect(error).toMatchObject({ name: "ApiError", type, code })
    expect(error.requestId).toBe(attempts[0]!.headers.get("X-Request-Id"))
    expect(error.docUrl).toMatch(new RegExp(`/errors#${code}$`))
    expect(attempts).toHaveLength(1)
  })
})

/** One attempt of a client. */
interface Attempt {
  readonly url: string
  readonly status: number
  readonly headers: Headers
}

/** Creates a `fetch` that records the response to each attempt. */
const observeFetch = (): { readonly fetch: Fetch; readonly attempts: Array<Attempt> } => {
  const attempts: Array<Attempt> = []
  return {
    attempts,
    fetch: async (url, request) => {
      const response = await fetch(url, request)
      attempts.push({ url, status: response.status, headers: response.headers })
      return response
    },
  }
}
