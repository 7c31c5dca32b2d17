import { once } from "node:events"
import { connect } from "node:net"
import { text } from "node:stream/consumers"
import { operations } from "@outreach/contract"
import { eventually, until } from "@outreach/testing/until"
import { Layer } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { MaxConnections } from "../../src/ApiConfig.ts"
import { ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, startApi } from "../startApi.ts"

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

it("too many connections are closed at once and logged, first those of one address and then all, until another one ends", async () => {
  const narrow = await runApi(api().databaseUrl, { CONNECTIONS_PER_ADDRESS: "2" }, Layer.succeed(MaxConnections, 4))
  onTestFinished(narrow.stop)
  const port = Number(new URL(narrow.url).port)
  const connectFrom = (localAddress: string) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {})
    onTestFinished(() => void socket.destroy())
    return socket
  }
  const hold = async (localAddress: string) => {
    const socket = connectFrom(localAddress)
    socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n")
    await once(socket, "data")
    return socket
  }
  const statusFrom = async (localAddress: string) => {
    const socket = connectFrom(localAddress)
    socket.write("GET /v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    return (await text(socket).catch(() => "")).slice(9, 12)
  }
  for (let i = 0; i < 2; i++) await hold("127.0.0.1")
  expect([await statusFrom("127.0.0.1"), await statusFrom("127.0.0.2")]).toEqual(["", "200"])
  await until(narrow.log, "address connection limit reached, dropping connections")
  const [last] = [await hold("127.0.0.2"), await hold("127.0.0.2")]
  expect(await statusFrom("127.0.0.3")).toBe("")
  await until(narrow.log, "connection limit reached, dropping connections")
  last.destroy()
  await eventually(
    () => statusFrom("127.0.0.3"),
    (status) => status === "200",
  )
})

it("a client behind a trusted proxy receives 503 if it has too many concurrent requests, while other clients are served", async () => {
  const proxied = await runApi(api().databaseUrl, { CONNECTIONS_PER_ADDRESS: "1", TRUST_PROXY: "loopback", DOCS_URL })
  onTestFinished(proxied.stop)
  const port = Number(new URL(proxied.url).port)
  const { endpoint } = await api().seed(0)
  const path = operations.receiveWebhook.path.replace("{endpoint_id}", endpoint.id)
  // The request stays open because its body doesn't arrive.
  const held = connect({ port, host: "127.0.0.1" }).on("error", () => {})
  onTestFinished(() => void held.destroy())
  held.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\nContent-Length: 9\r\n\r\n`)
  const statusFor = async (client: string) =>
    (await ask(proxied, "/v1/health", { headers: { "X-Forwarded-For": client } })).status
  await eventually(
    () => statusFor("192.0.2.1"),
    (status) => status === 503,
  )
  expect(await statusFor("192.0.2.2")).toBe(200)
})
