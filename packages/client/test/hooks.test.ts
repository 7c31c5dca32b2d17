import { inspect } from "node:util"
import { eventExamples } from "@outreach/contract"
import { describe, expect, it } from "vitest"
import { ConnectionError } from "../src/ApiError.ts"
import { createClient } from "../src/createClient.ts"
import type { AttemptInfo, RequestInfo } from "../src/Hooks.ts"
import { errorReply } from "./errorReply.ts"
import { type Reply, startServer } from "./startServer.ts"

const LIMITS = { "X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "42", "X-RateLimit-Reset": "1795229160" }
const RATE_LIMIT = { limit: 100, remaining: 42, reset: 1_795_229_160 }
const SINCE = "2026-01-01T00:00:00Z"
const page = (next_cursor: string | null): Reply => ({
  status: 200,
  headers: LIMITS,
  body: { object: "list", livemode: false, data: [{ token: "aaaaaa" }], has_more: next_cursor !== null, next_cursor },
})

/** A client whose hooks note what they are handed. */
async function startHooked(replies: readonly Reply[], headers?: Readonly<Record<string, string>>) {
  const [requests, attempts] = [[] as RequestInfo[], [] as AttemptInfo[]]
  const server = await startServer(replies, {
    apiKey: "orp_live_secret",
    random: () => 1 - 1e-9,
    onRequest: (request) => {
      requests.push(request)
      return headers
    },
    onResponse: (attempt) => void attempts.push(attempt),
  })
  return { ...server, requests, attempts }
}

describe("responseOf", () => {
  it("knows the request id, the rate limit and the headers of each result and page, and leaves the results as they are", async () => {
    const record: Reply = { status: 200, headers: { ...LIMITS, ETag: '"1"' }, body: { token: "aaaaaa" } }
    const { client } = await startHooked([record, { status: 304, headers: LIMITS }, page("a"), page(null)])
    const [first, second] = [await client.getToken("aaaaaa"), await client.getToken("aaaaaa")]
    expect(Reflect.ownKeys(first)).toEqual(["token"])
    expect(client.responseOf(first)).toMatchObject({ status: 200, requestId: "req_1", rateLimit: RATE_LIMIT })
    expect(client.responseOf(first)!.header("etag")).toBe('"1"')
    expect(client.responseOf(second)).toMatchObject({ status: 304, requestId: "req_2", rateLimit: RATE_LIMIT })
    const pages = await Array.fromAsync(client.listTokens({ since: SINCE }).pages())
    expect(pages.map((page) => client.responseOf(page)?.requestId)).toEqual(["req_3", "req_4"])
    expect(client.responseOf({})).toBeUndefined()
  })

  it("knows them of an error", async () => {
    const { client } = await startHooked([errorReply("TOKEN_NOT_FOUND", { headers: LIMITS })])
    const error = await client.getToken("aaaaaa").catch((error: unknown) => error as Error)
    expect(client.responseOf(error)).toMatchObject({ status: 404, requestId: "req_1", rateLimit: RATE_LIMIT })
  })

  it("knows no rate limit where the answer has none, or half of one", async () => {
    const { client } = await startHooked([
      { status: 200, body: {} },
      { status: 200, body: {}, headers: { ...LIMITS, "X-RateLimit-Reset": "soon" } },
    ])
    for (let call = 0; call < 2; call++) {
      expect(client.responseOf(await client.getHealth())).toMatchObject({ status: 200, rateLimit: null })
    }
  })
})

describe("the hooks", () => {
  it("are called before and after each attempt, with its outcome", async () => {
    const { client, baseUrl, requests, attempts } = await startHooked([
      errorReply("INTERNAL_ERROR"),
      "reset",
      { status: 200, headers: LIMITS, body: { token: "aaaaaa" } },
    ])
    await client.getToken("aaaaaa")
    const url = `${baseUrl}/v1/partners/consumer/tokens/aaaaaa`
    const request = { operation: "getToken", method: "GET", url }
    expect(requests).toEqual([1, 2, 3].map((attempt) => ({ ...request, attempt })))
    expect(attempts.map(({ request }) => request)).toEqual(requests)
    expect(attempts.map(({ response }) => response?.status)).toEqual([500, undefined, 200])
    expect(attempts[0]!.error).toMatchObject({ code: "INTERNAL_ERROR", requestId: "req_0a1b" })
    expect(attempts[1]!.error).toBeInstanceOf(ConnectionError)
    expect(attempts[2]).toMatchObject({ error: null, response: { requestId: "req_3", rateLimit: RATE_LIMIT } })
    expect(attempts.map(({ retryInSeconds }) => retryInSeconds && Math.round(retryInSeconds * 1000) / 1000)).toEqual([
      0.5,
      1,
      null,
    ])
    expect(attempts.every(({ seconds }) => seconds >= 0)).toBe(true)
  })

  it("are handed neither the key nor a signature nor a body", async () => {
    const { client, requests, attempts } = await startHooked([
      { status: 200, body: { received: true } },
      page(null),
      errorReply("UNAUTHORIZED"),
    ])
    const event = eventExamples["clinician.learner_qualified"]
    await client.sendEvent("whe_1", event, { secrets: ["whsec_hidden"] })
    await Array.fromAsync(client.listEvents({ since: SINCE }))
    await expect(client.getDigest("2026-11-20")).rejects.toMatchObject({ code: "UNAUTHORIZED" })
    const handed = inspect([requests, attempts], { depth: 12, showHidden: true })
    expect(attempts).toHaveLength(3)
    for (const hidden of ["orp_live_secret", "whsec_hidden", "v1=", event.data.npi])
      expect(handed).not.toContain(hidden)
  })

  it("may add headers to each attempt, and replace none of the client's own", async () => {
    const { client, asked } = await startHooked([{ status: 200, body: {} }], {
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      authorization: "Bearer mine",
      ACCEPT: "text/html",
      tracestate: undefined as never,
    })
    await client.getDigest("2026-11-20")
    expect(asked[0]!.headers).toMatchObject({
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
      authorization: "Bearer orp_live_secret",
      accept: "application/json",
    })
    expect(asked[0]!.headers).not.toHaveProperty("tracestate")
  })

  it("fail the call with the error that they throw, and the call is not retried", async () => {
    const { baseUrl, asked } = await startServer([{ status: 200, body: {} }])
    const fail = () => Promise.reject(new Error("hook"))
    const options = { apiKey: "key", baseUrl, sleep: async () => {} }
    await expect(createClient({ ...options, onRequest: fail }).getHealth()).rejects.toThrow("hook")
    expect(asked).toHaveLength(0)
    await expect(createClient({ ...options, onResponse: fail }).getHealth()).rejects.toThrow("hook")
    expect(asked).toHaveLength(1)
  })
})
