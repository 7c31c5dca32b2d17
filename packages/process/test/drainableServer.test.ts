import { once } from "node:events"
import { Agent, get, type IncomingMessage } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { text } from "node:stream/consumers"
import { expect, it, onTestFinished } from "vitest"
import { drainableServer } from "../src/drainableServer.ts"

const start = async () => {
  const { server, drain } = drainableServer({ keepAliveTimeout: 600_000 }, 60_000)
  await once(server.listen(0, "127.0.0.1"), "listening")
  onTestFinished(() => server.closeAllConnections())
  return { server, drain, port: (server.address() as AddressInfo).port }
}

const keptAlive = () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return agent
}

const ask = async (port: number, agent: Agent) => {
  const request = get({ port, host: "127.0.0.1", agent })
  const [response] = (await once(request, "response")) as [IncomingMessage]
  return { text: await text(response), connection: response.headers.connection, reused: request.reusedSocket }
}

it("serves a request on an idle connection when the server closes, then ends the connection", async () => {
  const { server, port } = await start()
  server.on("request", (_, response) => response.end("served"))
  const agent = keptAlive()
  expect(await ask(port, agent)).toEqual({ text: "served", connection: "keep-alive", reused: false })
  const closed = once(server, "close")
  server.close()
  expect(await ask(port, agent)).toEqual({ text: "served", connection: "close", reused: true })
  await closed
})

it("serves the connections that the kernel has queued when the server closes", async () => {
  const { server, port } = await start()
  server.on("request", (_, response) => response.end("served"))
  const asked = Array.from({ length: 16 }, () => ask(port, keptAlive()))
  // Each is connected, and the server hasn't had a turn to accept one.
  await new Promise<void>((resolve) => process.nextTick(resolve))
  const closed = once(server, "close")
  server.close()
  const served = { text: "served", connection: "close", reused: false }
  expect(await Promise.all(asked)).toEqual(Array(16).fill(served))
  await closed
})

it("sends Connection: close with a response in flight when draining starts", async () => {
  const { server, drain, port } = await start()
  server.on("request", (_, response) => {
    drain()
    response.end("served")
  })
  expect(await ask(port, keptAlive())).toEqual({ text: "served", connection: "close", reused: false })
})

it("ends an idle connection without a reset when draining starts, and accepts new ones", async () => {
  const { server, drain, port } = await start()
  server.on("request", (_, response) => response.end("served"))
  const idle = connect(port, "127.0.0.1")
  idle.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
  await once(idle, "data")
  drain()
  await once(idle, "end")
  expect(await ask(port, keptAlive())).toEqual({ text: "served", connection: "close", reused: false })
})

it("ends a connection if its response started before the server closed", async () => {
  const { server, port } = await start()
  server.on("request", (_, response) => {
    response.write("begun ")
    server.close(() => {})
    response.end("before")
  })
  const closed = once(server, "close")
  expect(await ask(port, keptAlive())).toEqual({ text: "begun before", connection: "keep-alive", reused: false })
  await closed
})

it("ends a connection that stays idle once the server has closed", async () => {
  const { server, port } = await start()
  server.on("request", (_, response) => response.end("served"))
  await ask(port, keptAlive())
  const closed = once(server, "close")
  server.close()
  await closed
})

it("ends a connection without any request once the server has closed", async () => {
  const { server, port } = await start()
  const client = connect(port, "127.0.0.1")
  const ended = once(client, "close")
  await once(server, "connection")
  const closed = once(server, "close")
  server.close()
  await Promise.all([closed, ended])
})
