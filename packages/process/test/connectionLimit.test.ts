import { EventEmitter, once } from "node:events"
import { createServer, get, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import proxyAddr from "proxy-addr"
import { describe, expect, it, onTestFinished } from "vitest"
import { connectionLimit } from "../src/connectionLimit.ts"
import type { TrustProxy } from "../src/trustProxy.ts"

const start = async (trusts?: TrustProxy) => {
  let refused = 0
  const held: Array<ServerResponse> = []
  const events = new EventEmitter()
  const limit = connectionLimit(2, trusts)
  const server: Server = createServer()
  limit.watch(server, () => {
    refused += 1
  })
  server.on("request", (request, response) => {
    if (limit.isExceededBy(request)) response.writeHead(429).end()
    else if (request.url !== "/held") response.end()
    else if (held.push(response) === 2) events.emit("both held")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    port: (server.address() as AddressInfo).port,
    refused: () => refused,
    held,
    bothHeld: once(events, "both held"),
  }
}

/** Connects from an address of the loopback network; returns undefined once the server has closed the connection. */
const open = async (port: number, localAddress = "127.0.0.1"): Promise<Socket | undefined> => {
  const socket = connect({ port, host: "127.0.0.1", localAddress }).on("error", () => {})
  onTestFinished(() => void socket.destroy())
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  const answered = await Promise.race([once(socket, "data"), once(socket, "close").then(() => undefined)])
  return answered && socket
}

const statusFor = async (port: number, client: string, path = "/"): Promise<number> => {
  const [response] = (await once(
    get({ port, path, host: "127.0.0.1", agent: false, headers: { "X-Forwarded-For": client } }),
    "response",
  )) as [IncomingMessage]
  response.resume()
  return response.statusCode!
}

describe("an address", () => {
  it("has a number of connections at once, another address has its own, and one that ends makes room", async () => {
    const { port, refused } = await start()
    const first = await open(port)
    expect([await open(port), await open(port), await open(port, "127.0.0.2")]).toEqual([
      expect.anything(),
      undefined,
      expect.anything(),
    ])
    expect(refused()).toBe(1)
    const ended = once(first!, "close")
    first!.end()
    await ended
    expect(await open(port)).toBeDefined()
  })

  it("that connects without a word is counted as well", async () => {
    const { port } = await start()
    for (let i = 0; i < 2; i++) {
      const idle = connect({ port, host: "127.0.0.1" })
      onTestFinished(() => void idle.destroy())
      await once(idle, "connect")
    }
    expect(await open(port)).toBeUndefined()
  })
})

describe("a trusted proxy", () => {
  it("has as many connections as it likes, and each client behind it has a number of requests under way", async () => {
    const { port, held, bothHeld } = await start(proxyAddr.compile(["127.0.0.1"]))
    for (let i = 0; i < 4; i++) expect(await open(port)).toBeDefined()
    const underWay = [statusFor(port, "192.0.2.1", "/held"), statusFor(port, "192.0.2.1", "/held")]
    await bothHeld
    expect([await statusFor(port, "192.0.2.1"), await statusFor(port, "192.0.2.2")]).toEqual([429, 200])
    const closed = held.map((response) => once(response.end(), "close"))
    expect(await Promise.all(underWay)).toEqual([200, 200])
    await Promise.all(closed)
    expect(await statusFor(port, "192.0.2.1")).toBe(200)
  })

  it("that sends no forwarded address is counted as the client itself", async () => {
    const { port, bothHeld } = await start(proxyAddr.compile(["127.0.0.1"]))
    const sockets = Array.from({ length: 2 }, () => connect({ port, host: "127.0.0.1" }))
    for (const socket of sockets) socket.write("GET /held HTTP/1.1\r\nHost: x\r\n\r\n")
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    await bothHeld
    expect(await statusFor(port, "")).toBe(429)
  })
})
