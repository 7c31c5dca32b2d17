import { Agent, type RequestListener } from "node:http"
import { describe, expect, it } from "vitest"
import { postWebhook } from "../src/postWebhook.ts"
import { serveHttp } from "./serveHttp.ts"

const post = async (
  listener: RequestListener,
  { timeoutMs = 60_000, signal = new AbortController().signal }: { timeoutMs?: number; signal?: AbortSignal } = {},
) => {
  await using server = await serveHttp(listener)
  return await postWebhook(new URL(server.url), { "X-Signature": "t=1" }, "{}", {
    agent: new Agent(),
    timeoutMs,
    signal,
  })
}

describe("postWebhook", () => {
  it("gives up a receiver that does not answer in time", async () => {
    expect(await post(() => {}, { timeoutMs: 50 })).toEqual({ failure: "no answer within 0.05 s" })
  })
  it("takes the status for the answer when the body is endless, breaks off or never ends", async () => {
    const endless: RequestListener = (_, response) => {
      response.writeHead(500)
      const write = (): void => void (response.destroyed || response.write("x".repeat(65_536), write))
      write()
    }
    expect(await post(endless)).toEqual({ status: 500, text: "x".repeat(4096) })
    const broken: RequestListener = (request, response) => {
      response.writeHead(200, { "content-length": 9 }).write("half", () => request.socket.destroy())
    }
    expect(await post(broken)).toMatchObject({ status: 200 })
    const silent: RequestListener = (_, response) => void response.writeHead(503).write("half")
    expect(await post(silent)).toEqual({ status: 503, text: "half" })
  })
  it("ends with its signal", async () => {
    const stop = new AbortController()
    const result = post(() => stop.abort(), { signal: stop.signal })
    expect(await result).toEqual({ failure: expect.stringContaining("aborted") })
  })
})
