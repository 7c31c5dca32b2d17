import { type ApiError, createClient, type Fetch } from "@outreach/client"
import { Digest, eventExamples, FEED_EVENT_TYPES, FeedEvent, Health, RecipientRecord } from "@outreach/contract"
import { Redacted } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi, type TestApi } from "../startApi.ts"

const SINCE = "2026-01-01T00:00:00Z"

const api = startApi()
let seed: Awaited<ReturnType<TestApi["seed"]>>
beforeAll(async () => {
  seed = await api().seed(5)
  await api().run(publishOutcomes(seed.campaign, FEED_EVENT_TYPES))
})

const start = (options: Partial<Parameters<typeof createClient>[0]> = {}) => {
  const { fetch, attempts } = observeFetch()
  return { client: createClient({ apiKey: seed.key, baseUrl: api().url, fetch, ...options }), attempts }
}
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: ApiError) => error,
  )

describe("the client calls the API", () => {
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

interface Attempt {
  readonly url: string
  readonly status: number
  readonly headers: Headers
}

/** Creates a `fetch` that records each response. */
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
