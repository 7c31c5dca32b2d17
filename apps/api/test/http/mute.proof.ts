import { connect } from "node:net"
import { setTimeout } from "node:timers/promises"
import { SCOPES } from "@outreach/contract"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { migratedDatabase, runOnDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { column } from "@outreach/testing/sql"
import { urlIn } from "@outreach/testing/startProcess"
import { tcpProxy } from "@outreach/testing/tcpProxy"
import { asRole } from "@outreach/testing/testRoles"
import { eventually, until } from "@outreach/testing/until"
import { Redacted } from "effect"
import { expect, it } from "vitest"
import { ask } from "../ask.ts"
import { eventText, postWebhook } from "../postWebhook.ts"
import { DOCS_URL } from "../startApi.ts"
import { startApiProcess } from "../startApiProcess.ts"

/** How long the database is silent. */
const SILENCE_MS = 20_000
/** Maximum time until each process detects it, and of any request. */
const KNOWN_MS = 8000
const LIMIT_MS = 10_000
/** On a busy machine. On an idle one, cached responses take a few milliseconds. */
const AT_ONCE_MS = 3000
/** From one address. */
const MAX_CONNECTIONS = 300

const url = migratedDatabase()
const run = runOnDatabase({ url })

/** Starts the API as a process that connects to the test's database through a host. */
const start = async (host: string) => {
  const { username, password, pathname } = new URL(asRole(url(), "api"))
  const process = startApiProcess(url(), {
    DOCS_URL,
    DATABASE_URL: `postgres://${username}:${password}@${host}${pathname}`,
    CONNECTIONS_PER_ADDRESS: String(MAX_CONNECTIONS),
  })
  const listening = await until(process, "listening")
  const adminUrl = urlIn(await until(process, "admin port open"))
  return { url: urlIn(listening), port: Number(listening.annotations["port"]), adminUrl, process }
}

interface Response {
  readonly what: string
  readonly beganAt: number
  readonly ms: number
  readonly status: number
}

/** Records the duration of requests. */
const stopwatch = () => {
  const responses: Array<Response> = []
  const time = async (what: string, request: () => Promise<{ readonly status: number }>) => {
    const beganAt = performance.now()
    const response = await request()
    if (response instanceof globalThis.Response) await response.arrayBuffer()
    responses.push({ what, beganAt, ms: performance.now() - beganAt, status: response.status })
    return response.status
  }
  return { responses, time }
}

const longest = (responses: ReadonlyArray<Response>) => Math.round(Math.max(...responses.map(({ ms }) => ms)))

/** Repeats an action at an interval, without waiting for the previous one, until `stop`; then waits for all. */
const every = (pauseMs: number, act: (i: number) => Promise<unknown>) => {
  const stopping = new AbortController()
  const begun: Array<Promise<unknown>> = []
  const repeating = (async () => {
    for (let i = 0; !stopping.signal.aborted; i++) {
      begun.push(act(i))
      await setTimeout(pauseMs)
    }
  })()
  return async () => {
    stopping.abort()
    await repeating
    await Promise.all(begun)
  }
}

it("responds to every request in time while the database hangs, and recovers soon afterwards", async () => {
  const { organization, endpoint, secret } = await run(seedCampaign({ recipients: 1 }))
  const key = await run(issueKey({ organizationId: organization.id, name: "mute", scopes: SCOPES, expiresAt: null }))
  const proxy = await tcpProxy(Number(new URL(url()).port))
  const api = await start(proxy.address)
  const { responses, time } = stopwatch()

  const stored = new Set<string>()
  const unstored = new Set<string>()
  const post = async (id: string) => {
    const status = await time("webhook", () => postWebhook(api, { endpoint, secret }, eventText({ event_id: id })))
    unstored.delete(id)
    if (status === 200) stored.add(id)
    else unstored.add(id)
    return status
  }
  const read = () =>
    time("read", () =>
      ask(api, "/v1/partners/consumer/events?since=2000-01-01T00:00:00Z", { key: Redacted.value(key.text) }),
    )
  const ready = () => time("readyz", () => fetch(`${api.url}/readyz`))
  const readyOfOperators = () => time("admin", () => fetch(`${api.adminUrl}/readyz`))
  expect(await Promise.all([post("evt_9998"), read(), ready(), readyOfOperators()])).toEqual([200, 200, 200, 200])

  const mutedAt = performance.now()
  proxy.mute()
  const load = [every(100, (i) => post(`evt_${i}`)), every(3000, read), every(500, ready), every(500, readyOfOperators)]
  await setTimeout(SILENCE_MS)
  for (const stop of load) await stop()
  const silent = responses.splice(0).filter(({ beganAt }) => beganAt > mutedAt)
  for (const what of ["webhook", "read", "readyz", "admin"]) {
    const own = silent.filter((response) => response.what === what)
    const known = own.filter(({ beganAt }) => beganAt > mutedAt + KNOWN_MS)
    console.log(`${what}: ${own.length}, at most ${longest(own)} ms, once the silence is known ${longest(known)} ms`)
    expect(known.map(({ status }) => status)).toEqual(known.map(() => 503))
    expect(longest(own)).toBeLessThan(LIMIT_MS)
    expect(longest(known)).toBeLessThan(AT_ONCE_MS)
  }
  expect(longest(silent.filter(({ what }) => what === "readyz" || what === "admin"))).toBeLessThan(AT_ONCE_MS)

  expect(api.process.lines.filter(({ message }) => message === "database unusable")).toHaveLength(1)
  // One log line a second, with the number of 503 responses.
  const failed = silent.filter(({ what, status }) => status === 503 && (what === "webhook" || what === "read"))
  const lines = () => api.process.lines.filter(({ message }) => message === "requests failed because of the database")
  await until(
    api.process,
    () => lines().reduce((sum, { annotations }) => sum + Number(annotations["count"]), 0) === failed.length,
  )
  expect(lines().length).toBeLessThanOrEqual((SILENCE_MS + LIMIT_MS) / 1000 + 2)
  expect(api.process.text).not.toContain("unhandled error in request")

  // The maximum number of connections of an address to the public port, and requests on them, don't block the admin port.
  const idle = Array.from({ length: MAX_CONNECTIONS }, () => connect(api.port, "127.0.0.1").on("error", () => {}))
  const flood = [
    every(10, () => fetch(`${api.url}/v1/partners/consumer/events`).catch(() => {})),
    every(200, readyOfOperators),
  ]
  await setTimeout(3000)
  for (const stop of flood) await stop()
  for (const socket of idle) socket.destroy()
  console.log(`admin beside a flood of the other port: at most ${longest(responses)} ms`)
  expect(longest(responses)).toBeLessThan(AT_ONCE_MS)

  const healedAt = performance.now()
  proxy.heal()
  const works = async (what: () => Promise<number>) => {
    await eventually(what, (status) => status === 200)
    return Math.round(performance.now() - healedAt)
  }
  const back = await Promise.all([works(() => post("evt_9999")), works(read), works(ready), works(readyOfOperators)])
  console.log(`back after ${back.join(", ")} ms: webhooks, reads, readyz, admin`)
  for (const ms of back) expect(ms).toBeLessThan(LIMIT_MS)

  // Requests with a 503 may be stored or not. After a retry, everything is stored once.
  for (const id of [...unstored]) expect(await post(id)).toBe(200)
  const ids = await run(column<string>`select event_id from inbox where organization_id = ${organization.id}`)
  expect(ids.toSorted()).toEqual([...stored].sort())
})
