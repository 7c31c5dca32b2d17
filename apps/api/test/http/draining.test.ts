import { once } from "node:events"
import { Agent, get } from "node:http"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { describe, expect, it, onTestFinished } from "vitest"
import { addressOf, endApi, spawnApi } from "../spawnApi.ts"

const databaseUrl = migratedDatabase()

const start = async (settings: Readonly<Record<string, string>>) => {
  const child = spawnApi(databaseUrl(), settings)
  onTestFinished(() => endApi(child))
  const lines: Array<string> = []
  const { port } = await addressOf(child, (line) => lines.push(JSON.parse(line).message))
  return { child, port, lines, exited: once(child, "close") }
}

interface Exchange {
  /** The place of the request among all that were sent. */
  readonly sent: number
  readonly reused: boolean
  readonly connection: string | undefined
  readonly fault: string | undefined
}

let sent = 0

const ask = (port: number, agent: Agent | false, path = "/v1/health"): Promise<Exchange> =>
  new Promise((resolve) => {
    const place = sent++
    const request = get({ port, host: "127.0.0.1", path, agent }, (response) => {
      response.resume().on("end", () => settle(undefined, response.headers.connection))
    })
    const settle = (fault: string | undefined, connection?: string) =>
      resolve({ sent: place, reused: request.reusedSocket, connection, fault })
    request.on("error", (error: NodeJS.ErrnoException) => settle(error.code))
  })

/** Asks over and over until the server refuses connections. */
const askUntilRefused = async (port: number, agent: Agent | false): Promise<ReadonlyArray<Exchange>> => {
  const exchanges: Array<Exchange> = []
  while (exchanges.at(-1)?.fault !== "ECONNREFUSED") exchanges.push(await ask(port, agent))
  return exchanges
}

const keptAlive = () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return agent
}

describe("an API that is told to stop", () => {
  it("says close in each response while it drains, also on connections that were kept alive", async () => {
    const { child, port, exited } = await start({ SHUTDOWN_DELAY_SECONDS: "2" })
    const agents = Array.from({ length: 3 }, keptAlive)
    const before = await Promise.all(agents.map((agent) => ask(port, agent)))
    expect(before.map(({ connection }) => connection)).toEqual(agents.map(() => "keep-alive"))
    child.kill("SIGTERM")
    const prober = keptAlive()
    while ((await ask(port, prober, "/readyz")).connection === "keep-alive");
    const draining = await Promise.all(agents.map((agent) => ask(port, agent)))
    expect(draining).toMatchObject(agents.map(() => ({ reused: true, connection: "close", fault: undefined })))
    expect(await exited).toEqual([0, null])
  })

  it.each([
    ["keep their connections alive", keptAlive],
    ["open a connection for each request", () => false as const],
  ])("resets none of 20 busy clients that %s and sent before it closed its port", async (_, agentOf) => {
    const { child, port, exited } = await start({})
    const clients = Array.from({ length: 20 }, () => askUntilRefused(port, agentOf()))
    // The last connection that is accepted shows how long the port was open.
    const openers = Array.from({ length: 2 }, () => askUntilRefused(port, false))
    await ask(port, false)
    child.kill("SIGTERM")
    const exchanges = (await Promise.all([...clients, ...openers])).flat()
    const lastAccepted = Math.max(...exchanges.filter(({ reused, fault }) => !reused && !fault).map(({ sent }) => sent))
    expect(exchanges.filter(({ sent, fault }) => fault !== undefined && sent < lastAccepted)).toEqual([])
    expect(await exited).toEqual([0, null])
  })

  it.each(["SIGHUP", "SIGINT", "SIGTERM"] as const)(
    "drains on %s, and logs that it stops and has stopped",
    async (signal) => {
      const { child, lines, exited } = await start({})
      child.kill(signal)
      expect(await exited).toEqual([0, null])
      expect(lines.slice(-2)).toEqual(["stopping", "stopped"])
    },
  )
})
