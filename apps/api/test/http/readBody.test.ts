import { once } from "node:events"
import { createServer, request } from "node:http"
import { json } from "node:stream/consumers"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { operations } from "@outreach/contract"
import { listen } from "@outreach/testing/listen"
import { Deferred, Effect, Scope } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { beforeAll, describe, expect, it, onTestFinished } from "vitest"
import type { RequestError } from "../../src/http/RequestError.ts"
import { createReadBody } from "../../src/http/readBody.ts"
import { type Answer, ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
let key: string
/** Reads the body before checking the signature, so 401 means that the body was accepted. */
let RECEIVER: string
beforeAll(async () => {
  const seed = await api().seed(1)
  RECEIVER = `/v1/partners/consumer/webhooks/${seed.endpoint.id}`
  key = seed.key
})

const UNKNOWN_RECEIVER = "/v1/partners/consumer/webhooks/whe_0199"
const MEBIBYTE = 1_048_576

/** Announces a body of 1 MiB, sends all but its last byte when requested, and returns the response. */
const halfSend = (path: string) => {
  const sent = request(api().url + path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "Content-Length": String(MEBIBYTE), Expect: "100-continue" },
    agent: false,
  })
  onTestFinished(() => void sent.destroy())
  // The connection may break after the response while bytes are in transit.
  sent.on("error", () => {})
  const asked = new Promise<void>((resolve) => sent.on("continue", resolve))
  const answer = new Promise<[status: number, code: string]>((resolve) => {
    sent.on("response", async (response) => {
      const { error } = (await json(response)) as Answer["body"]
      resolve([response.statusCode!, error.code])
    })
  })
  sent.flushHeaders()
  void asked.then(() => sent.write(Buffer.alloc(MEBIBYTE - 1, " ")))
  return { asked, answer }
}

/** Sends a body with its length in the header, or in chunks, over a connection of its own. */
const send = (
  method: string,
  path: string,
  body: ReadonlyArray<string | Uint8Array>,
  headers: Record<string, string> = {},
): Promise<Answer> =>
  ask(api(), path, { method, headers: { "Content-Type": "application/json", ...headers }, body, agent: false })

describe("a body", () => {
  it.each([
    ["with its length", { "Content-Length": "2" }],
    ["in chunks", { "Transfer-Encoding": "chunked" }],
  ])("is refused on a GET, %s, once the caller is known", async (_how, headers) => {
    const target = "/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z"
    const refused = await send("GET", target, ["{}"], { ...headers, Authorization: `Bearer ${key}` })
    expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
      400,
      "INVALID_PARAMETER",
      { parameter: "body" },
    ])
    expect((await send("GET", target, ["{}"], headers)).status).toBe(401)
    expect((await send("GET", "/v1/health", ["{}"], headers)).status).toBe(400)
    expect((await send("GET", "/v1/health", [], { "Content-Length": "0" })).status).toBe(200)
  })

  it.each(["application/json; charset=utf-8", "text/plain;charset=UTF-8", "application/octet-stream", ""])(
    "is accepted whatever its Content-Type is, such as %j",
    async (type) => {
      expect((await send("POST", RECEIVER, ["{}"], { "Content-Type": type })).status).toBe(401)
    },
  )

  it("is rejected with UNSUPPORTED_MEDIA_TYPE if it is compressed", async () => {
    expect((await send("POST", RECEIVER, ["{}"], { "Content-Encoding": "gzip" })).status).toBe(415)
    expect((await send("POST", RECEIVER, ["{}"], { "Content-Encoding": "identity" })).status).toBe(401)
  })

  it("is not waited for when the endpoint does not exist", async () => {
    expect(await halfSend(UNKNOWN_RECEIVER).answer).toEqual([401, "INVALID_SIGNATURE"])
  })

  it("is rejected with SERVICE_UNAVAILABLE if it is the oldest when all bodies exceed 16 MiB", async () => {
    const halves = []
    for (let i = 0; i < 17; i++) {
      const half = halfSend(RECEIVER)
      halves.push(half)
      await half.asked
    }
    expect(await halves[0]!.answer).toEqual([503, "SERVICE_UNAVAILABLE"])
    expect((await send("POST", RECEIVER, ["{}"])).status).toBe(401)
  })

  it("is requested with 100 Continue if its client waits for it, unless it is already rejected", async () => {
    const expecting = (headers: Record<string, string>) =>
      new Promise<[continued: boolean, status: number]>((resolve, reject) => {
        let continued = false
        const sent = request(api().url + RECEIVER, {
          method: "POST",
          headers: { "Content-Type": "application/json", "Content-Length": "2", Expect: "100-continue", ...headers },
          agent: false,
        })
        sent
          .on("error", reject)
          .on("continue", () => {
            continued = true
            sent.end("{}")
          })
          .on("response", (response) => {
            resolve([continued, response.statusCode!])
            sent.destroy()
          })
          .flushHeaders()
      })
    expect(await expecting({})).toEqual([true, 401])
    expect(await expecting({ "Content-Length": String(MEBIBYTE + 1) })).toEqual([false, 413])
  })
})

it("is incomplete where its client has left before it is read", async () => {
  const left = Deferred.makeUnsafe<unknown, RequestError>()
  const readLater = Effect.gen(function* () {
    const served = yield* HttpServerRequest.HttpServerRequest
    yield* Effect.promise(() => once(NodeHttpServerRequest.toServerResponse(served), "close"))
    yield* Deferred.into(createReadBody()(operations.receiveWebhook, served), left)
    return HttpServerResponse.empty()
  })
  const server = createServer()
  server.on("request", await Effect.runPromise(NodeHttpServer.makeHandler(readLater, { scope: Scope.makeUnsafe() })))
  const sent = request({ port: await listen(server), method: "POST", headers: { "Content-Length": "9" } })
  sent.on("error", () => {}).flushHeaders()
  await once(server, "request")
  sent.destroy()
  const error = await Effect.runPromise(Effect.flip(Deferred.await(left)))
  expect(error).toMatchObject({ code: "INVALID_PARAMETER", details: { parameter: "body" } })
})
