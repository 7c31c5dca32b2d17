import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { operations } from "@outreach/contract"
import { seedCampaign } from "@outreach/testing/seedCampaign"
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
  const narrow = startApi(undefined, { MAX_CONNECTIONS: "3", CONNECTIONS_PER_ADDRESS: "3" })

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

describe("connections of one address past CONNECTIONS_PER_ADDRESS", () => {
  const narrow = startApi(undefined, { MAX_CONNECTIONS: "8" })

  it("are closed at once, while another address is served", async () => {
    const port = Number(new URL(narrow().url).port)
    // A quarter of eight.
    const held = Array.from({ length: 2 }, () => connect({ port, host: "127.0.0.1" }))
    onTestFinished(() => {
      for (const socket of held) socket.destroy()
    })
    for (const socket of held) await once(socket, "connect")
    const statusFrom = async (localAddress: string) => {
      const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {})
      socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      return (await text(socket).catch(() => "")).slice(9, 12)
    }
    expect([await statusFrom("127.0.0.1"), await statusFrom("127.0.0.2")]).toEqual(["", "200"])
    await vi.waitUntil(() => narrow().logs.some((line) => line.includes("an address has too many connections")), {
      timeout: 60_000,
    })
  })
})

describe("a client behind a trusted proxy", () => {
  const proxied = startApi(undefined, { CONNECTIONS_PER_ADDRESS: "1", TRUST_PROXY: "loopback" })

  it("has a number of requests under way, and is answered 503 past them, while other clients are served", async () => {
    const port = Number(new URL(proxied().url).port)
    const { endpoint } = await proxied().run(seedCampaign({ recipients: 0 }))
    const path = operations.receiveWebhook.path.replace("{endpoint_id}", endpoint.id)
    // Its body does not come, so it stays under way.
    const held = connect({ port, host: "127.0.0.1" }).on("error", () => {})
    onTestFinished(() => void held.destroy())
    held.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 9\r\n\r\n`)
    const statusFor = async (client: string) =>
      (await ask(proxied(), "/v1/health", { headers: { "X-Forwarded-For": client } })).status
    await vi.waitUntil(async () => (await statusFor("192.0.2.1")) === 503, { timeout: 60_000 })
    expect(await statusFor("192.0.2.2")).toBe(200)
  })
})
