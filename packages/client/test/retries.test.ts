import { type PartnerErrorCode, partnerCatalog } from "@outreach/contract/catalogs"
import type { Retry } from "@outreach/error-catalog"
import fc from "fast-check"
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
  const server = await startServer(replies)
  const waits: number[] = []
  const sleep = async (milliseconds: number) => void waits.push(milliseconds / 1000)
  const client = createClient({ apiKey: "key", baseUrl: server.baseUrl, sleep, random: () => 1 - 1e-9, ...options })
  return { ...server, client, waits }
}
const rounded = (waits: readonly number[]) => waits.map((wait) => Math.round(wait * 1000) / 1000)
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  )

describe("an error that the catalog calls permanent", () => {
  it.each(codesThat("no"))("is thrown at once and not asked again: %s", async (code) => {
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
  it.each(codesThat("backoff"))("is asked again with growing delays until it is answered: %s", async (code) => {
    const { client, asked, waits } = await startClient([errorReply(code), errorReply(code), errorReply(code), OK])
    expect(await client.getHealth()).toEqual(HEALTH)
    expect([asked.length, rounded(waits)]).toEqual([4, [0.5, 1, 2]])
  })

  it("is asked again after a half of each delay to the whole of it, as chance has it", async () => {
    const chances = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), {
      minLength: 4,
      maxLength: 4,
    })
    const property = fc.asyncProperty(chances, async (drawn) => {
      const random = [...drawn]
      const { client, waits } = await startClient([errorReply("INTERNAL_ERROR")], { random: () => random.shift()! })
      await failure(client.getHealth())
      expect(rounded(waits)).toEqual(rounded([0.5, 1, 2, 4].map((delay, i) => delay * (0.5 + drawn[i]! / 2))))
    })
    await fc.assert(property)
  })

  it("is not asked again by two clients at the same moment", async () => {
    const waits: number[] = []
    for (let i = 0; i < 10; i++) {
      const started = await startClient([errorReply("INTERNAL_ERROR"), OK], { random: undefined })
      await started.client.getHealth()
      waits.push(...started.waits)
    }
    expect(new Set(waits).size).toBe(10)
    for (const wait of waits) expect([wait >= 0.25, wait < 0.5]).toEqual([true, true])
  })

  it("is thrown once the delays are used up", async () => {
    const { client, asked, waits } = await startClient([errorReply("INTERNAL_ERROR")])
    expect(await failure(client.getHealth())).toMatchObject({ type: "api_error", code: "INTERNAL_ERROR", status: 500 })
    expect([asked.length, rounded(waits)]).toEqual([5, [0.5, 1, 2, 4]])
  })

  it("is thrown at once when there are no delays", async () => {
    const { client, asked } = await startClient([errorReply("INTERNAL_ERROR")], { retryDelays: [] })
    await failure(client.getHealth())
    expect(asked).toHaveLength(1)
  })

  it("waits for as long as its details ask, and the delay more", async () => {
    const { client, waits } = await startClient([
      errorReply("SERVICE_UNAVAILABLE", { details: { retry_after: 5 } }),
      OK,
    ])
    await client.getHealth()
    expect(rounded(waits)).toEqual([5.5])
  })

  it("is told by the status where a proxy answers", async () => {
    const { client, asked } = await startClient([
      { status: 502, body: "<html>Bad gateway</html>" },
      { status: 503 },
      OK,
    ])
    expect(await client.getHealth()).toEqual(HEALTH)
    expect(asked).toHaveLength(3)
  })

  it("that says 501 is not asked again, in either envelope", async () => {
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

describe("a rate limit", () => {
  it("is waited out for at least Retry-After, whatever the delay", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 60 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        async (seconds, chance) => {
          const limited = errorReply("RATE_LIMITED", { headers: { "Retry-After": String(seconds) } })
          const { client, asked, waits } = await startClient([limited, OK], { random: () => chance })
          await client.getDigest("2026-11-20")
          expect(asked).toHaveLength(2)
          expect(waits[0]).toBeGreaterThanOrEqual(seconds)
          expect(waits[0]).toBeLessThanOrEqual(seconds + 0.5)
        },
      ),
    )
  })

  it("that asks for more than the longest wait is thrown, and tells for how much", async () => {
    const limited = errorReply("RATE_LIMITED", { headers: { "Retry-After": "3600" } })
    const { client, asked } = await startClient([limited, OK])
    expect(await failure(client.getHealth())).toMatchObject({ code: "RATE_LIMITED", retryAfter: 3600 })
    expect(asked).toHaveLength(1)
  })

  it("that names a date, in any form of HTTP's, is waited out until then, by the clock of the answer", async () => {
    const forms = [
      (date: Date) => date.toUTCString(),
      (date: Date) => {
        const [, day, month, year, time] = date.toUTCString().split(" ")
        const weekday = date.toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" })
        return `${weekday}, ${day}-${month}-${year!.slice(2)} ${time} GMT`
      },
      (date: Date) => {
        const [weekday, day, month, year, time] = date.toUTCString().split(" ")
        return `${weekday!.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${time} ${year}`
      },
    ]
    const moment = fc.integer({ min: Date.UTC(2000) / 1000, max: Date.UTC(2049) / 1000 })
    const offset = fc.integer({ min: -9, max: 90 })
    await fc.assert(
      fc.asyncProperty(moment, offset, fc.constantFrom(...forms), async (sent, seconds, write) => {
        const [date, until] = [sent, sent + seconds].map((at) => new Date(at * 1000))
        const headers = { Date: date!.toUTCString(), "Retry-After": write(until!) }
        const { client, waits } = await startClient([errorReply("RATE_LIMITED", { headers }), OK])
        await client.getHealth()
        expect(rounded(waits)).toEqual([Math.max(0, seconds) + 0.5])
      }),
    )
  })

  it("that names a date beyond the longest wait, or none that exists, is told as it is", async () => {
    const asking = (retryAfter: string) =>
      errorReply("RATE_LIMITED", { headers: { Date: "Mon, 23 Nov 2026 05:00:00 GMT", "Retry-After": retryAfter } })
    const later = await startClient([asking("Mon, 23 Nov 2026 06:00:00 GMT"), OK])
    expect(await failure(later.client.getHealth())).toMatchObject({ retryAfter: 3600 })
    const wrong = await startClient([asking("Mon, 99 Nov 2026"), OK])
    expect(await wrong.client.getHealth()).toEqual(HEALTH)
    expect(rounded(wrong.waits)).toEqual([0.5])
  })

  it("that names a date in an answer without Date, as a browser shows that of another origin, counts from this machine's clock", async () => {
    const headers = { "Retry-After": new Date(Date.now() + 3_600_000).toUTCString() }
    const fetch = async () => new Response(null, { status: 429, headers })
    const client = createClient({ apiKey: "key", baseUrl: "http://api.test", fetch })
    const { retryAfter } = (await failure(client.getHealth())) as ApiError
    expect([retryAfter! > 3000, retryAfter! <= 3600]).toEqual([true, true])
  })

  it("of the legacy envelope is waited out too", async () => {
    const body = { error: { code: "RATE_LIMITED", message: "Slow down." } }
    const { client, waits } = await startClient([{ status: 429, body, headers: { "Retry-After": "7" } }, OK])
    await client.presignUpload("a.pdf")
    expect(rounded(waits)).toEqual([7.5])
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

  it("may take as long as it likes", async () => {
    const { client } = await startClient([OK], { timeout: Number.POSITIVE_INFINITY })
    expect(await client.getHealth()).toEqual(HEALTH)
  })

  it("because nobody listens is a network failure", async () => {
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
    const server = await startServer(() => {
      setTimeout(() => controller.abort(reason), 20)
      return errorReply("INTERNAL_ERROR")
    })
    const client = createClient({ apiKey: "key", baseUrl: server.baseUrl, retryDelays: [100] })
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
    await expect(sleep(2 ** 40, AbortSignal.timeout(20))).rejects.toMatchObject({ name: "TimeoutError" })
  })

  it("that was aborted before asks for nothing", async () => {
    const { client, asked } = await startClient([OK])
    expect(await failure(client.getHealth({ signal: AbortSignal.abort() }))).toMatchObject({ name: "AbortError" })
    expect(asked).toEqual([])
  })
})
