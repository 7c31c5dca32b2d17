import { once } from "node:events"
import { Agent, get, type IncomingMessage } from "node:http"
import { eventually, until } from "@outreach/testing/until"
import { describe, expect, it, onTestFinished } from "vitest"
import { ask } from "../ask.ts"
import { runApi } from "../runApi.ts"
import { DOCS_URL, startApi } from "../startApi.ts"
import { startApiProcess } from "../startApiProcess.ts"

const api = startApi()

const start = async (settings: Readonly<Record<string, string>> = {}) => {
  const process = startApiProcess(api().databaseUrl, settings)
  return { process, port: Number((await until(process, "listening")).annotations["port"]) }
}

/** Sends a request to a port over an agent's connection. */
const createSender =
  (port: number) =>
  async (agent: Agent, path = "/v1/health") => {
    const request = get({ port, host: "127.0.0.1", path, agent })
    const [response] = (await once(request, "response")) as [IncomingMessage]
    await once(response.resume(), "end")
    return { reused: request.reusedSocket, status: response.statusCode, connection: response.headers.connection }
  }

const keptAlive = () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return agent
}

describe("an API that stops", () => {
  it("is not ready during its shutdown delay, but serves and closes each connection, also those that were kept alive", async () => {
    // The delay doesn't pass: the process is killed at the end.
    const { process, port } = await start({ SHUTDOWN_DELAY_SECONDS: "60" })
    const send = createSender(port)
    const agent = keptAlive()
    expect((await send(agent)).connection).toBe("keep-alive")
    process.child.kill("SIGTERM")
    const prober = keptAlive()
    const unready = await eventually(
      () => send(prober, "/readyz"),
      ({ status }) => status !== 200,
    )
    expect([unready.status, unready.connection]).toEqual([503, "close"])
    expect(await send(agent)).toEqual({ reused: true, status: 200, connection: "close" })
  })

  it("finishes requests in flight, and accepts no further ones", async () => {
    const { key } = await api().seed(1)
    const { url, stop } = await runApi(api().databaseUrl, { DOCS_URL })
    const { held, stopped } = await api().whileLocked("recipients", async () => {
      const held = ask({ url }, "/v1/partners/consumer/tokens/aB3xY9", { key })
      await api().untilBlocked("recipients")
      const stopped = stop()
      await eventually(
        () =>
          fetch(`${url}/v1/health`).then(
            () => true,
            () => false,
          ),
        (isServed) => !isServed,
      )
      return { held, stopped }
    })
    expect((await held).status).toBe(404)
    await stopped
  })
})
