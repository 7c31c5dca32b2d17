import { Agent, get } from "node:http"
import { eventually } from "@outreach/testing/eventually"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { until } from "@outreach/testing/until"
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

interface Exchange {
  /** The position of the request among all requests. */
  readonly sent: number
  readonly reused: boolean
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly fault: string | undefined
}

/** Creates a function that sends requests to a port and numbers them. */
const createSender = (port: number) => {
  let sent = 0
  return (agent: Agent | false, path = "/v1/health"): Promise<Exchange> =>
    new Promise((resolve) => {
      const position = sent++
      const request = get({ port, host: "127.0.0.1", path, agent }, (response) => {
        const { statusCode: status, headers } = response
        response.resume().on("end", () => settle({ status, connection: headers.connection, fault: undefined }))
      })
      const settle = (outcome: Pick<Exchange, "status" | "connection" | "fault">) =>
        resolve({ sent: position, reused: request.reusedSocket, ...outcome })
      request.on("error", ({ code }: NodeJS.ErrnoException) =>
        settle({ status: undefined, connection: undefined, fault: code }),
      )
    })
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
    const agents = Array.from({ length: 3 }, keptAlive)
    const before = await Promise.all(agents.map((agent) => send(agent)))
    expect(before.map(({ connection }) => connection)).toEqual(agents.map(() => "keep-alive"))
    process.child.kill("SIGTERM")
    const prober = keptAlive()
    const unready = await eventually(
      () => send(prober, "/readyz"),
      ({ status }) => status !== 200,
    )
    expect([unready.status, unready.connection]).toEqual([503, "close"])
    const draining = await Promise.all(agents.map((agent) => send(agent)))
    expect(draining).toMatchObject(agents.map(() => ({ reused: true, status: 200, connection: "close" })))
  })

  it("resets no request of busy clients that was sent before it closed its port, and exits with 0", async () => {
    const { process, port } = await start()
    const send = createSender(port)
    const sendUntilRefused = async (agent: Agent | false): Promise<ReadonlyArray<Exchange>> => {
      const exchanges: Array<Exchange> = []
      while (exchanges.at(-1)?.fault !== "ECONNREFUSED") exchanges.push(await send(agent))
      return exchanges
    }
    // Some keep their connection, and some open one for each request. The last connection that is accepted shows how long the port was open.
    const clients = Array.from({ length: 20 }, (_, i) => sendUntilRefused(i % 2 === 0 && keptAlive()))
    await send(false)
    process.child.kill("SIGTERM")
    const exchanges = (await Promise.all(clients)).flat()
    const lastAccepted = Math.max(...exchanges.filter(({ reused, fault }) => !reused && !fault).map(({ sent }) => sent))
    expect(exchanges.filter(({ sent, fault }) => fault !== undefined && sent < lastAccepted)).toEqual([])
    expect(await process.ended).toBe(0)
    expect(process.lines.slice(-2).map(({ message }) => message)).toEqual(["stopping", "stopped"])
  })

  it("finishes requests in flight, and accepts no further ones", async () => {
    const { organization } = await api().run(seedCampaign({ recipients: 1 }))
    const { text: key } = await api().issue(organization.id, ["tokens:read"])
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
