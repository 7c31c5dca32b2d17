import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { describe, expect, it, onTestFinished, vi } from "vitest"
import { ask } from "../ask.ts"
import { startApi } from "../startApi.ts"

const api = startApi()
const open = () => connect({ port: Number(new URL(api().url).port), host: "127.0.0.1" })

describe("a connection", () => {
  it("is kept open for 75 s, longer than load balancers keep theirs", async () => {
    const { headers } = await ask(api(), "/v1/health")
    expect([headers.get("Connection"), headers.get("Keep-Alive")]).toEqual(["keep-alive", "timeout=75"])
  })

  it("serves one request after another, and several sent at once in their order", async () => {
    const socket = open()
    const request = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`
    socket.write(request("/v1/health") + request("/nowhere") + request("/v1/health", "Connection: close\r\n"))
    const statuses = (await text(socket)).match(/HTTP\/1\.1 \d+/g)
    expect(statuses).toEqual(["HTTP/1.1 200", "HTTP/1.1 404", "HTTP/1.1 200"])
  })

  it("takes a head of 8 KiB and no more", async () => {
    const sizeOf = async (bytes: number) => {
      const socket = open()
      const head = "GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Long: "
      socket.write(`${head}${"x".repeat(bytes - head.length - 4)}\r\n\r\n`)
      return (await text(socket)).slice(9, 12)
    }
    expect(await sizeOf(8_000)).toBe("200")
    expect(await sizeOf(10_000)).toBe("400")
  })
})

describe("connections past MAX_CONNECTIONS", () => {
  const narrow = startApi(undefined, { MAX_CONNECTIONS: "3" })

  it("are closed at once, which is logged, until one of the others ends", async () => {
    const { port } = new URL(narrow().url)
    const health = "GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n"
    const held = Array.from({ length: 3 }, () => connect({ port: Number(port), host: "127.0.0.1" }))
    onTestFinished(() => {
      for (const socket of held) socket.destroy()
    })
    for (const socket of held) {
      socket.write(health)
      await once(socket, "data")
    }
    const statusOf = async () => {
      const socket = connect({ port: Number(port), host: "127.0.0.1" }).on("error", () => {})
      socket.write(health.replace("Host", "Connection: close\r\nHost"))
      return (await text(socket).catch(() => "")).slice(9, 12)
    }
    expect(await statusOf()).toBe("")
    await vi.waitUntil(() => narrow().logs.some((line) => line.includes("connection limit reached")), {
      timeout: 60_000,
    })
    held[0]!.destroy()
    await vi.waitUntil(async () => (await statusOf()) === "200", { timeout: 60_000 })
  })
})
