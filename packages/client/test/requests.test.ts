import { eventExamples, type Operations } from "@outreach/contract"
import { verify } from "@outreach/signature"
import { expect, expectTypeOf, it } from "vitest"
import type { Client } from "../src/Client.ts"
import { createClient } from "../src/createClient.ts"
import { errorReply } from "./errorReply.ts"
import { startServer } from "./startServer.ts"

const SURVEY = { title: "Title", estimatedTime: { min: 1, max: 2 }, incentive: 5 }
const NOTHING = { object: "list", livemode: false, data: [], has_more: false, next_cursor: null, url: "" }
const sleep = async () => {}

it("has one method for each row of the contract", () => {
  type Methods = Exclude<keyof Client, "sync" | "sendEvent"> | "receiveWebhook"
  expectTypeOf<Methods>().toEqualTypeOf<keyof Operations>()
})

it("writes each call as the contract has it", async () => {
  const { baseUrl, asked } = await startServer([{ status: 200, body: NOTHING }])
  const client = createClient({ apiKey: "orp_test_k", baseUrl: `${baseUrl}/` })
  await client.getHealth()
  await client.getToken("aB3xY9", { expand: ["campaign", "program"] })
  await Array.fromAsync(client.listTokens({ since: "2026-01-01T00:00:00+02:00", limit: 7, cursor: "c+/=" }))
  await Array.fromAsync(
    client.listEvents({ since: "2026-01-01T00:00:00Z", types: ["outreach.email_sent"], expand: ["recipient"] }),
  )
  await Array.fromAsync(client.listCampaignRecipients("cmp_0a/1", { limit: 2 }))
  await client.getDigest("2026-11-20")
  await client.presignUpload("a b.pdf", { contentType: "text/plain" })
  expect(asked.map(({ method, url }) => `${method} ${decodeURIComponent(url)}`)).toEqual([
    "GET /v1/health",
    "GET /v1/partners/consumer/tokens/aB3xY9?expand[]=campaign&expand[]=program",
    "GET /v1/partners/consumer/tokens?since=2026-01-01T00:00:00+02:00&limit=7&cursor=c+/=",
    "GET /v1/partners/consumer/events?since=2026-01-01T00:00:00Z&types[]=outreach.email_sent&expand[]=recipient",
    "GET /v1/partners/consumer/campaigns/cmp_0a/1/recipients?limit=2",
    "GET /v1/partners/consumer/digest?date=2026-11-20",
    "GET /v1/uploads/presign?contentType=text/plain&filename=a+b.pdf",
  ])
  expect(asked[2]!.url).toContain("since=2026-01-01T00%3A00%3A00%2B02%3A00")
  expect(asked[4]!.url).toContain("/cmp_0a%2F1/")
})

it("sends the key wherever a bearer is asked for, and nowhere else", async () => {
  const { baseUrl, asked } = await startServer([{ status: 200, body: NOTHING }])
  const client = createClient({ apiKey: "orp_test_k", baseUrl })
  await client.getHealth()
  await client.sendEvent("whe_1", eventExamples["clinician.learner_qualified"], { secrets: ["whsec_a"] })
  await client.getDigest("2026-11-20")
  await client.validateSurvey(SURVEY)
  expect(asked.map(({ headers }) => headers["authorization"])).toEqual([
    undefined,
    undefined,
    "Bearer orp_test_k",
    "Bearer orp_test_k",
  ])
})

it("signs an event anew for each attempt, over the bytes that it sends", async () => {
  const { baseUrl, asked } = await startServer([
    errorReply("SERVICE_UNAVAILABLE"),
    { status: 200, body: { received: true } },
  ])
  const client = createClient({ apiKey: "key", baseUrl, sleep })
  const event = eventExamples["clinician.account_created"]
  expect(await client.sendEvent("whe_1", event, { secrets: ["whsec_a", "whsec_b"] })).toEqual({ received: true })
  expect(asked).toHaveLength(2)
  for (const { url, headers, body } of asked) {
    expect([url, headers["content-type"], JSON.parse(body)]).toEqual([
      "/v1/partners/consumer/webhooks/whe_1",
      "application/json",
      event,
    ])
    for (const secret of ["whsec_a", "whsec_b"]) {
      await verify(String(headers["x-signature"]), body, [secret], { now: Date.now() / 1000 })
    }
  }
})

it("keeps an idempotency key over the attempts of one call, and makes another for the next", async () => {
  const { baseUrl, asked } = await startServer((_, count) =>
    count % 3 === 0 ? { status: 201, body: {} } : errorReply("INTERNAL_ERROR"),
  )
  const client = createClient({ apiKey: "key", baseUrl, sleep })
  await client.createSurvey(SURVEY)
  await client.createSurvey(SURVEY)
  await client.createSurvey(SURVEY, { idempotencyKey: "mine" })
  const keys = asked.map(({ headers }) => headers["idempotency-key"])
  expect([new Set(keys.slice(0, 3)).size, new Set(keys.slice(3, 6)).size, new Set(keys.slice(0, 6)).size]).toEqual([
    1, 1, 2,
  ])
  expect(keys.slice(6)).toEqual(["mine", "mine", "mine"])
  expect(asked.every(({ body }) => body === JSON.stringify(SURVEY))).toBe(true)
})

it("refuses what no header can hold without repeating it, and asks for nothing", async () => {
  const { baseUrl, asked } = await startServer([{ status: 200, body: {} }])
  for (const apiKey of ["", "orp_live_sécret", "orp_live_secret\n", "two words"]) {
    expect(() => createClient({ apiKey, baseUrl })).toThrow(
      /^apiKey must be printable ASCII characters without a space$/,
    )
  }
  const client = createClient({ apiKey: "key", baseUrl })
  for (const idempotencyKey of ["", "é", "a\nb", "x".repeat(256)]) {
    await expect(client.getToken("aB3xY9", { idempotencyKey })).rejects.toThrow(
      /^idempotencyKey must be 1 to 255 printable ASCII characters$/,
    )
  }
  expect(() => createClient({ apiKey: "key", baseUrl: "not an address" })).toThrow(TypeError)
  expect(asked).toEqual([])
})

it("shows no key when it is printed", async () => {
  const { inspect } = await import("node:util")
  const client = createClient({ apiKey: "orp_live_secret", baseUrl: "https://api.test" })
  expect(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)).not.toContain("orp_live_secret")
})

it("follows no redirect, and repeats the key to nobody", async () => {
  const other = await startServer([{ status: 200, body: {} }])
  const { baseUrl } = await startServer([{ status: 307, headers: { Location: other.baseUrl } }])
  const client = createClient({ apiKey: "key", baseUrl, retryDelays: [] })
  await expect(client.getDigest("2026-11-20")).rejects.toMatchObject({ name: "ApiError", status: 307, code: null })
  expect(other.asked).toEqual([])
})
