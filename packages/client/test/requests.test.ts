import {
  type EventEnvelope,
  type EventTypeOf,
  eventExamples,
  type FeedEvent,
  type Operations,
  operations,
  type RecipientRecord,
  type SurveyInput,
} from "@outreach/contract"
import { verify } from "@outreach/signature"
import fc from "fast-check"
import { expect, expectTypeOf, it } from "vitest"
import type { BodyOf, Client } from "../src/Client.ts"
import { type ClientOptions, createClient } from "../src/createClient.ts"
import { routes } from "../src/routes.ts"
import { errorReply } from "./errorReply.ts"
import { startServer } from "./startServer.ts"

const SURVEY = { title: "Title", estimatedTime: { min: 1, max: 2 }, incentive: 5 }
const NOTHING = { object: "list", livemode: false, data: [], has_more: false, next_cursor: null, url: "" }
const sleep = async () => {}

it("has one method for each row of the contract", () => {
  type Methods = Exclude<keyof Client, "sync" | "responseOf" | "sendEvent"> | "receiveWebhook"
  expectTypeOf<Methods>().toEqualTypeOf<keyof Operations>()
})

it("uses each operation's method and path from the contract, with a key where it is required", () => {
  const rows = Object.values(operations).map(({ operationId, method, path, auth }) => {
    const bearer = auth.kind === "bearer" || auth.kind === "scope"
    return [operationId, { method, path, bearer }]
  })
  expect(Object.entries(routes)).toEqual(rows)
  expectTypeOf<BodyOf<"listEvents">["data"][number]>().toEqualTypeOf<FeedEvent>()
  expectTypeOf<Parameters<Client["sendEvent"]>[1]>().toEqualTypeOf<EventEnvelope<EventTypeOf<"to_service">>>()
  expectTypeOf<BodyOf<"getToken">>().toEqualTypeOf<RecipientRecord>()
  expectTypeOf<Parameters<Client["createSurvey"]>[0]>().toEqualTypeOf<SurveyInput>()
})

it("writes each call as the contract has it", async () => {
  const { asked, client } = await startServer([{ status: 200, body: NOTHING }])
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

it("sends the key only to operations that require a bearer token", async () => {
  const { asked, client } = await startServer([{ status: 200, body: NOTHING }])
  await client.getHealth()
  await client.sendEvent("whe_1", eventExamples["clinician.learner_qualified"], { secrets: ["whsec_a"] })
  await client.getDigest("2026-11-20")
  await client.validateSurvey(SURVEY)
  expect(asked.map(({ headers }) => headers["authorization"])).toEqual([
    undefined,
    undefined,
    "Bearer key",
    "Bearer key",
  ])
})

it("signs an event again for each attempt, over the bytes that it sends", async () => {
  const replies = [errorReply("SERVICE_UNAVAILABLE"), { status: 200, body: { received: true } }]
  const { asked, client } = await startServer(replies)
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
  const { asked, client } = await startServer((_, count) =>
    count % 3 === 0 ? { status: 201, body: {} } : errorReply("INTERNAL_ERROR"),
  )
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

it("rejects keys that a header can't contain, without repeating them or sending a request", async () => {
  const { baseUrl, asked } = await startServer([{ status: 200, body: {} }])
  for (const [apiKey, state] of [
    [undefined, "undefined"],
    [null, "null"],
    ["", "empty"],
  ]) {
    expect(() => createClient({ apiKey: apiKey as string, baseUrl })).toThrow(
      new TypeError(
        `apiKey is ${state}: give the whole key, such as process.env.OUTREACH_KEY, and check that it is set`,
      ),
    )
  }
  for (const apiKey of ["orp_live_sécret", "orp_live_secret\n", "Bearer orp_live_secret", '"orp_live_secret"']) {
    expect(() => createClient({ apiKey, baseUrl })).toThrow(
      /^apiKey must be printable ASCII characters without a space, a line break or quotes: give the key alone, as it was issued$/,
    )
  }
  const client = createClient({ apiKey: "key", baseUrl })
  for (const idempotencyKey of ["", "é", "a\nb", "x".repeat(256)]) {
    await expect(client.getToken("aB3xY9", { idempotencyKey })).rejects.toThrow(
      /^idempotencyKey must be 1 to 255 printable ASCII characters$/,
    )
  }
  expect(asked).toEqual([])
})

it("takes its address with and without /v1 and slashes", async () => {
  const { baseUrl, asked } = await startServer([{ status: 200, body: {} }])
  for (const end of ["", "/", "/v1", "/v1/", "//v1//", "/gateway/v1"]) {
    await createClient({ apiKey: "key", baseUrl: baseUrl + end }).getDigest("2026-11-20")
  }
  const target = "/v1/partners/consumer/digest?date=2026-11-20"
  expect(asked.map(({ url }) => url)).toEqual([...Array(5).fill(target), `/gateway${target}`])
})

it("rejects a base address that can't be used, without repeating it", () => {
  const addresses = ["not an address", "ftp://api.test", "https://me:pass@api.test", "https://api.test?a=pass", "//x"]
  for (const baseUrl of [...addresses, undefined, null, 7] as string[]) {
    expect(() => createClient({ apiKey: "key", baseUrl })).toThrow(TypeError)
    expect(() => createClient({ apiKey: "key", baseUrl })).toThrow(/^baseUrl must (?!.*pass@)/)
  }
})

it("rejects invalid durations in seconds, and sends no request", async () => {
  const { asked, baseUrl, client } = await startServer([{ status: 200, body: NOTHING }])
  for (const seconds of [Number.NaN, -1, -0.001, "30" as unknown as number]) {
    const wrong: Partial<ClientOptions>[] = [{ timeout: seconds }, { longestWait: seconds }, { retryDelays: [seconds] }]
    for (const options of wrong) expect(() => createClient({ apiKey: "key", baseUrl, ...options })).toThrow(RangeError)
    await expect(client.getHealth({ timeout: seconds })).rejects.toThrow(/^timeout must be a number of seconds/)
    expect(() => client.listTokens({ since: "2026-01-01T00:00:00Z", timeout: seconds })).toThrow(RangeError)
    const checkpoint = { since: "2026-01-01T00:00:00Z" }
    expect(() => client.sync.events({ checkpoint, everySeconds: seconds })).toThrow(/^everySeconds must be a number/)
  }
  expect(() => createClient({ apiKey: "key", baseUrl, timeout: 0 })).toThrow(/^timeout .* more than 0$/)
  expect(asked).toEqual([])
})

it("keeps any id within its path segment, or rejects it", async () => {
  const { asked, client } = await startServer([{ status: 200, body: NOTHING }])
  const pathLike = fc.string({
    unit: fc.constantFrom(".", "/", "\\", "%", "2", "e", "E", "f", "?", "#", "a", " ", "é", "\ud800"),
  })
  await fc.assert(
    fc.asyncProperty(fc.oneof(pathLike, fc.constantFrom("..", ".", "", "%2e%2e", "../digest?date=x#")), async (id) => {
      const before = asked.length
      const error = await client.getToken(id).then(
        () => null,
        (error: unknown) => error,
      )
      if (error !== null) {
        expect(error).toBeInstanceOf(TypeError)
        expect((error as TypeError).message).toMatch(/^token must be/)
        expect(["", ".", ".."].includes(id) || id.includes("\ud800")).toBe(true)
        expect(asked).toHaveLength(before)
        return
      }
      const [path, ...rest] = asked.at(-1)!.url.split("/tokens/")
      expect([path, ...rest.map(decodeURIComponent)]).toEqual(["/v1/partners/consumer", id])
      expect(asked.at(-1)!.url).not.toMatch(/[?#]/)
    }),
  )
  await expect(Array.fromAsync(client.listCampaignRecipients(".."))).rejects.toThrow(/^id must be text/)
})

it("takes a time as a Date", async () => {
  const { asked, baseUrl, client } = await startServer([{ status: 200, body: NOTHING }])
  const since = new Date("2026-11-20T01:02:03.004Z")
  await Array.fromAsync(client.listTokens({ since }))
  await Array.fromAsync(client.listEvents({ since }))
  await Array.fromAsync(client.sync.events({ checkpoint: { since }, everySeconds: null }))
  const sinces = asked.map(({ url }) => new URL(url, baseUrl).searchParams.get("since"))
  expect(sinces).toEqual(Array(3).fill("2026-11-20T01:02:03.004Z"))
  const never = new Date("never")
  await expect(Array.fromAsync(client.listEvents({ since: never }))).rejects.toThrow(
    "since is a Date that is not valid",
  )
  expect(() => client.sync.events({ checkpoint: { since: never } })).toThrow("since is a Date that is not valid")
  expect(() => client.sync.events({ checkpoint: undefined as never })).toThrow(/^checkpoint must be/)
  expect(asked).toHaveLength(3)
})

it("names itself and its runtime in User-Agent, and then its caller", async () => {
  const { baseUrl, asked } = await startServer([{ status: 200, body: {} }])
  await createClient({ apiKey: "key", baseUrl }).getHealth()
  await createClient({ apiKey: "key", baseUrl, userAgent: "acme-poller/1.2" }).getHealth()
  const [own, added] = asked.map(({ headers }) => headers["user-agent"])
  expect(own).toMatch(/^outreach-client\/\d+\.\d+\.\d+ Node\.js\/\d+$/)
  expect(added).toBe(`${own} acme-poller/1.2`)
  for (const userAgent of ["", "é", "a\r\nb: c"]) {
    expect(() => createClient({ apiKey: "key", baseUrl, userAgent })).toThrow(/^userAgent must be printable ASCII/)
  }
})

it("shows no key when it is printed", async () => {
  const { inspect } = await import("node:util")
  const client = createClient({ apiKey: "orp_live_secret", baseUrl: "https://api.test" })
  expect(inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client)).not.toContain("orp_live_secret")
})

it.each([301, 302, 303, 307, 308])("follows no redirect, and explains it without its secrets: %s", async (status) => {
  const other = await startServer([{ status: 200, body: {} }])
  const Location = `${other.baseUrl.replace("//", "//user:secret@")}/elsewhere?session=secret`
  const { asked, client } = await startServer([{ status, headers: { Location }, body: "<html>Moved</html>" }])
  const error = await client.getDigest("2026-11-20").then(
    () => expect.unreachable(),
    (error: unknown) => error as Error,
  )
  expect(error).toMatchObject({
    name: "ApiError",
    status,
    code: null,
    type: "invalid_request_error",
    requestId: "req_1",
  })
  expect(error.message).toContain(`redirect (${status}) to ${other.baseUrl}/elsewhere, which is not followed`)
  expect(error.message).toContain("baseUrl")
  expect(error.message).not.toContain("secret")
  expect([asked.length, other.asked.length]).toEqual([1, 0])
})

it.each([
  ["/login?next=secret", "/login"],
  ["../login", "/login"],
  ["//[", undefined],
])("names the whole address of a redirect to %s", async (Location, path) => {
  const { baseUrl, client } = await startServer([{ status: 302, headers: { Location } }])
  const target = path === undefined ? "an address that is not valid" : baseUrl + path
  const message = expect.stringContaining(`${baseUrl} answered with a redirect (302) to ${target}, which`)
  await expect(client.getHealth()).rejects.toMatchObject({ message })
})

it("explains a redirect that a browser hides behind the status 0", async () => {
  let asked = 0
  const fetch = async () => {
    asked += 1
    return { status: 0, headers: new Headers(), text: async () => "" }
  }
  const client = createClient({ apiKey: "key", baseUrl: "https://api.test", fetch, sleep })
  await expect(client.getDigest("2026-11-20")).rejects.toMatchObject({
    status: 0,
    type: "invalid_request_error",
    message: expect.stringMatching(/^https:\/\/api.test answered with a redirect, which is not followed/),
  })
  expect(asked).toBe(1)
})
