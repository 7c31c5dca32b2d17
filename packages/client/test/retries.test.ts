import { type PartnerErrorCode, partnerCatalog } from "@outreach/contract/catalogs"
import type { Retry } from "@outreach/error-catalog"
import { describe, expect, it } from "vitest"
import { ApiError, ConnectionError } from "../src/ApiError.ts"
import { type ClientOptions, createClient } from "../src/createClient.ts"
import { sleep } from "../src/sleep.ts"
import { errorReply } from "./errorReply.ts"
import { type Reply, startServer } from "./startServer.ts"

const HEALTH = { status: "ok", version: "1.0.0", timestamp: "2026-11-21T02:45:29.123456Z" }
const OK: Reply = { status: 200, body: HEALTH }
const codes = Object.keys(partnerCatalog.codes) as PartnerErrorCode[]
const codesThat = (retry: Retry) =>
  codes.filter((code) => partnerCatalog.retry(partnerCatalog.codes[code].type) === retry)

/** A client whose waits are over at once, and are noted in seconds. */
async function startClient(replies: Parameters<typeof startServer>[0], options: Partial<ClientOptions> = {}) {
  const waits: number[] = []
  const sleep = async (milliseconds: number) => void waits.push(milliseconds / 1000)
  return { ...(await startServer(replies, { sleep, random: () => 1 - 1e-9, ...options })), waits }
}
const rounded = (waits: readonly number[]) => waits.map((wait) => Math.round(wait * 1000) / 1000)
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )

describe("an error that the catalog calls permanent", () => {
  it.each(codesThat("no"))("is thrown at once and not retried: %s", async (code) => {
    const { client, asked, waits } = await startClient([errorReply(code), OK])
    const error = (await failure(client.getDigest("2026-11-20"))) as ApiError
    expect(error).toBeInstanceOf(ApiError)
    const { type, status } = partnerCatalog.codes[code]
    expect(error).toMatchObject({ type, code, status, requestId: "req_0a1b", message: "A sentence." })
    expect(error.docUrl).toBe(`https://docs.test/errors#${code}`)
    expect([asked.length, waits]).toEqual([1, []])
  })

  it("stays so when it comes with Retry-After", async () => {
    const busy = errorReply("IDEMPOTENCY_KEY_IN_USE", { headers: { "Retry-After": "1" } })
    const { client, asked } = await startClient([busy, OK])
    expect(await failure(client.getToken("aB3xY9"))).toMatchObject({ retryAfter: 1 })
    expect(asked).toHaveLength(1)
  })
})

describe("an api_error", () => {
  it.each(codesThat("backoff"))("is retried with growing delays until it succeeds: %s", async (code) => {
    const { client, asked, waits } = await startClient([errorReply(code), errorReply(code), errorReply(code), OK])
    expect(await client.getHealth()).toEqual(HEALTH)
    expect([asked.length, rounded(waits)]).toEqual([4, [0.5, 1, 2]])
  })

  it("is repeated after half of each delay to all of it, by chance", async () => {
    const least = await startClient([errorReply("INTERNAL_ERROR")], { random: () => 0 })
    await failure(least.client.getHealth())
    expect(rounded(least.waits)).toEqual([0.25, 0.5, 1, 2])
    const { client, waits } = await startClient([errorReply("INTERNAL_ERROR"), OK], { random: undefined })
    await client.getHealth()
    expect([waits[0]! >= 0.25, waits[0]! < 0.5]).toEqual([true, true])
  })

  it("is thrown once the delays are used up", async () => {
    const { client, asked, waits } = await startClient([errorReply("INTERNAL_ERROR")])
    expect(await failure(client.getHealth())).toMatchObject({ type: "api_error", code: "INTERNAL_ERROR", status: 500 })
    expect([asked.length, rounded(waits)]).toEqual([5, [0.5, 1, 2, 4]])
  })

  it("is recognized by the status of a proxy's response", async () => {
    const { client, asked } = await startClient([
      { status: 502, body: "<html>Bad gateway</html>" },
      { status: 503 },
      OK,
    ])
    expect(await client.getHealth()).toEqual(HEALTH)
    expect(asked).toHaveLength(3)
  })

  it("with status 501 is not retried in the legacy envelope", async () => {
    const legacy: Reply = { status: 501, body: { error: { code: "NOT_IMPLEMENTED", message: "Not served." } } }
    const survey = { title: "Title", estimatedTime: { min: 1, max: 2 }, incentive: 5 }
    const drafts = await startClient([legacy])
    const error = await failure(drafts.client.createSurvey(survey))
    expect(error).toMatchObject({
      type: "api_error",
      code: "NOT_IMPLEMENTED",
      requestId: "req_1",
      message: "Not served.",
    })
    expect(drafts.asked).toHaveLength(1)
  })
})

describe("a wait that the service requests", () => {
  const limited = (retryAfter: string, date?: string) =>
    errorReply("RATE_LIMITED", { headers: { "Retry-After": retryAfter, ...(date && { Date: date }) } })
  const SENT = "Mon, 23 Nov 2026 05:00:00 GMT"

  it.each<[string, Reply, wait: number]>([
    ["a rate limit", limited("7"), 7.5],
    ["a rate limit with a date, by the clock of the response", limited("Mon, 23 Nov 2026 05:00:30 GMT", SENT), 30.5],
    ["a rate limit with an invalid date", limited("Mon, 99 Nov 2026", SENT), 0.5],
    [
      "a rate limit in the legacy envelope",
      {
        status: 429,
        body: { error: { code: "RATE_LIMITED", message: "Slow down." } },
        headers: { "Retry-After": "7" },
      },
      7.5,
    ],
    ["details", errorReply("SERVICE_UNAVAILABLE", { details: { retry_after: 5 } }), 5.5],
  ])("by %s lasts as long, and the delay more", async (_, reply, wait) => {
    const { client, asked, waits } = await startClient([reply, OK])
    expect(await client.getHealth()).toEqual(HEALTH)
    expect([asked.length, rounded(waits)]).toEqual([2, [wait]])
  })

  it.each([
    ["seconds", limited("3600")],
    ["a date", limited("Mon, 23 Nov 2026 06:00:00 GMT", SENT)],
  ])("that is longer than the longest wait is thrown, with its length, in %s", async (_, reply) => {
    const { client, asked } = await startClient([reply, OK])
    expect(await failure(client.getHealth())).toMatchObject({ code: "RATE_LIMITED", retryAfter: 3600 })
    expect(asked).toHaveLength(1)
  })

  it("until a date counts from this machine's clock if the response has no Date, as in a browser", async () => {
    const headers = { "Retry-After": new Date(Date.now() + 3_600_000).toUTCString() }
    const fetch = async () => new Response(null, { status: 429, headers })
    const client = createClient({ apiKey: "key", baseUrl: "http://api.test", fetch })
    const { retryAfter } = (await failure(client.getHealth())) as ApiError
    expect([retryAfter! > 3000, retryAfter! <= 3600]).toEqual([true, true])
  })
})

describe("a request without an answer", () => {
  it.each([
    ["breaks off", "reset", "network"],
    ["ends in the middle of the body", "half", "network"],
    ["takes longer than the timeout", "hang", "timeout"],
    ["is answered by something that is not the service", { status: 200, body: "<html>Log in</html>" }, "unreadable"],
  ] as const)("that %s is asked again, and says why at the end", async (_, reply, reason) => {
    const { client, asked } = await startClient([reply], { timeout: reply === "hang" ? 0.2 : 60, retryDelays: [1] })
    const error = (await failure(client.getHealth())) as ConnectionError
    expect(error).toBeInstanceOf(ConnectionError)
    expect([error.reason, asked.length]).toEqual([reason, 2])
    expect(error.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+ (?:could not|did not|answered something)/)
    const recovered = await startClient([reply, OK], { timeout: reply === "hang" ? 0.2 : 60 })
    expect(await recovered.client.getHealth()).toEqual(HEALTH)
  })

  it("has the timeout of its call rather than the client's", async () => {
    const { client } = await startClient(["hang"], { timeout: Number.POSITIVE_INFINITY, retryDelays: [] })
    expect(await failure(client.getHealth({ timeout: 0.05 }))).toMatchObject({ reason: "timeout" })
  })

  it("because the port is closed is a network failure", async () => {
    const client = createClient({ apiKey: "key", baseUrl: "http://127.0.0.1:1", retryDelays: [] })
    expect(await failure(client.getHealth())).toMatchObject({ name: "ConnectionError", reason: "network" })
  })
})

describe("a signal", () => {
  it("ends a request in flight with its reason", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const { client, asked, waits } = await startClient(() => {
      setImmediate(() => controller.abort(reason))
      return "hang"
    })
    expect(await failure(client.getHealth({ signal: controller.signal }))).toBe(reason)
    expect([asked.length, waits]).toEqual([1, []])
  })

  it("ends the wait before a repeat", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const server = await startServer([errorReply("INTERNAL_ERROR")])
    const onResponse = () => void setImmediate(() => controller.abort(reason))
    const client = createClient({ apiKey: "key", baseUrl: server.baseUrl, retryDelays: [100], onResponse })
    expect(await failure(client.getHealth({ signal: controller.signal }))).toBe(reason)
    expect(server.asked).toHaveLength(1)
  })

  it("leaves no timer of a wait that it ended", async () => {
    const controller = new AbortController()
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length
    const before = timers()
    const waited = failure(sleep(100_000, controller.signal))
    const during = timers()
    controller.abort(new Error("enough"))
    // Read within one turn, so that no other timer can begin or end.
    expect([during, timers()]).toEqual([before + 1, before])
    expect(await waited).toMatchObject({ message: "enough" })
  })

  it("ends a wait that is longer than a timer can be set to", async () => {
    const controller = new AbortController()
    const waited = failure(sleep(2 ** 40, controller.signal))
    setTimeout(() => controller.abort(new Error("enough")))
    expect(await waited).toMatchObject({ message: "enough" })
  })

  it("that was aborted before the call prevents the request", async () => {
    const { client, asked } = await startClient([OK])
    expect(await failure(client.getHealth({ signal: AbortSignal.abort() }))).toMatchObject({ name: "AbortError" })
    expect(asked).toEqual([])
  })
})
