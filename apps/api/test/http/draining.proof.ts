import { once } from "node:events"
import { globSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { Agent, get, type IncomingMessage } from "node:http"
import { join } from "node:path"
import { findProgram } from "@outreach/debian-packages/findProgram"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { startProgram, urlIn } from "@outreach/testing/startProcess"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { eventually, until } from "@outreach/testing/until"
import { expect, it } from "vitest"
import { startApiProcess } from "../startApiProcess.ts"

const CLIENTS = 16
/** HAProxy's connections to the APIs: reused, or one per request. */
const MODES = { open: "http-reuse always", new: "http-reuse never\n  option http-server-close" }
type Mode = keyof typeof MODES

const databaseUrl = migratedDatabase()

/** Starts HAProxy in front of APIs, listening on a socket in a folder for each mode. */
const startHaproxy = async (unpacked: string, apis: ReadonlyArray<string>) => {
  const folder = temporaryFolder("haproxy")
  const servers = apis.map((url, i) => `server api${i} ${new URL(url).host} check inter 500ms fall 2`).join("\n  ")
  const proxies = Object.entries(MODES).map(
    ([mode, reuse]) => `listen ${mode}
  bind unix@${join(folder, mode)}
  option httpchk GET /readyz
  ${reuse}
  ${servers}`,
  )
  const defaults = "defaults\n  mode http\n  timeout connect 5s\n  timeout client 60s\n  timeout server 60s"
  await writeFile(join(folder, "haproxy.cfg"), `${[defaults, ...proxies].join("\n")}\n`)
  const libraries = globSync("usr/lib/*-linux-gnu", { cwd: unpacked }).map((path) => join(unpacked, path))
  startProgram(join(unpacked, "usr/sbin/haproxy"), ["-db", "-f", join(folder, "haproxy.cfg")], {
    env: { LD_LIBRARY_PATH: libraries.join(":") },
  })
  return (mode: Mode) => join(folder, mode)
}

it("resets neither open nor new connections behind HAProxy when one of two APIs stops", async ({ skip }) => {
  const haproxy = findProgram("haproxy")
  if ("missing" in haproxy) return skip(haproxy.missing)
  const apis = Array.from({ length: 2 }, () => startApiProcess(databaseUrl(), { SHUTDOWN_DELAY_SECONDS: "5" }))
  const urls = await Promise.all(apis.map(async (api) => urlIn(await until(api, "listening"))))
  const socketOf = await startHaproxy(haproxy.folder, urls)

  const send = async (mode: Mode, agent: Agent | false) => {
    const request = get({ socketPath: socketOf(mode), path: "/v1/health", agent })
    const [response] = (await once(request, "response")) as [IncomingMessage]
    await once(response.resume(), "end")
    return response.statusCode!
  }
  for (const mode of ["open", "new"] as const) {
    await eventually(
      () => send(mode, false).catch(() => 0),
      (status) => status === 200,
    )
  }

  let isOver = false
  const failures: Record<Mode, number> = { open: 0, new: 0 }
  let served = 0
  const client = async (mode: Mode) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    while (!isOver) {
      if ((await send(mode, agent).catch(() => 0)) === 200) served++
      else failures[mode]++
    }
    agent.destroy()
  }
  const clients = Array.from({ length: CLIENTS }, (_, i) => client(i % 2 ? "open" : "new"))
  const continues = async () => {
    const before = served
    await eventually(
      () => served,
      (count) => count > before + 50 * CLIENTS,
    )
  }
  await continues()
  expect(await apis[0]!.kill("SIGTERM")).toBe(0)
  await continues()
  isOver = true
  await Promise.all(clients)
  console.log(`${served} requests served, resets:`, failures)
  expect(failures).toEqual({ open: 0, new: 0 })
})
