import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { installProject, missingRegistry, type ProjectServer, packTarball, startServer } from "./exampleProject.ts"

/** How the receiver answers the first calls of a job; all later ones with 200. */
type Answer = (request: IncomingMessage, response: ServerResponse) => unknown

const status =
  (code: number, headers = {}): Answer =>
  (_, response) =>
    response.writeHead(code, headers).end("said")
const cutOff: Answer = (request) => request.socket.destroy()
const hang: Answer = () => {}
const breakBody: Answer = (request, response) =>
  response.writeHead(503, { "Content-Length": "1000" }).write("{", () => request.socket.destroy())

interface Call {
  readonly key: string | undefined
  readonly at: number
}

let folder: string
let missing: string | undefined
let project: string
let queue: ProjectServer
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-queue-"))
  missing = await missingRegistry(folder)
  if (missing !== undefined) return
  await packTarball(folder, "retry-policy")
  project = await installProject(folder, "queue")
  queue = await start()
})
afterAll(async () => {
  await queue?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing)
})

const start = () => startServer(project, { RETRY_DELAYS: "100ms, 200ms, 300ms", CALL_TIMEOUT: "1s" })

/** Serves a receiver until the test ends. */
async function startReceiver(...answers: readonly Answer[]) {
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const { "idempotency-key": key } = request.headers
    const answer = answers[calls.push({ key: String(key), at: Date.now() }) - 1] ?? status(200)
    request.resume().on("end", () => answer(request, response))
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    calls,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, "close")
    },
  }
}

async function addJob(url: string): Promise<number> {
  const response = await fetch(`${queue.url}/jobs`, { method: "POST", body: JSON.stringify({ url, body: { n: 1 } }) })
  expect(response.status).toBe(202)
  return ((await response.json()) as { readonly id: number }).id
}

interface Job {
  readonly state: string
  readonly attempt: number
  readonly reason: string | null
}

const readJob = async (id: number) => (await (await fetch(`${queue.url}/jobs/${id}`)).json()) as Job
const ended = (id: number): Promise<Job> =>
  vi.waitFor(
    async () => {
      const job = await readJob(id)
      expect(job.state).not.toBe("waiting")
      return job
    },
    { timeout: 60_000, interval: 50 },
  )

describe("the queue in examples/queue", () => {
  it.each<[string, readonly Answer[]]>([
    ["answers at once", []],
    ["is overloaded", [status(503), status(500)]],
    ["limits its callers", [status(429), status(425), status(408)]],
    ["breaks the connection off", [cutOff, breakBody]],
    ["does not answer in time", [hang]],
  ])("makes a call until it succeeds, where the receiver %s", async (_, answers) => {
    await using receiver = await startReceiver(...answers)
    const id = await addJob(receiver.url)
    expect(await ended(id)).toMatchObject({ state: "done", attempt: answers.length + 1, reason: "200" })
    expect(receiver.calls.map(({ key }) => key)).toEqual(Array(answers.length + 1).fill(`job-${id}`))
  })

  it("makes a call once, where the receiver refuses it", async () => {
    await using receiver = await startReceiver(status(410))
    const job = await ended(await addJob(receiver.url))
    expect(job).toMatchObject({ state: "dead", attempt: 1, reason: "410, permanent" })
    expect(receiver.calls).toHaveLength(1)
  })

  it("gives up after the last delay", async () => {
    const nobody = await addJob("http://127.0.0.1:1/")
    await using receiver = await startReceiver(...Array(9).fill(status(500)))
    const failing = await addJob(receiver.url)
    expect(await ended(nobody)).toMatchObject({ state: "dead", attempt: 4, reason: "ECONNREFUSED, exhausted" })
    expect(await ended(failing)).toMatchObject({ state: "dead", attempt: 4, reason: "500, exhausted" })
    expect(receiver.calls).toHaveLength(4)
  })

  it("calls no sooner than Retry-After says, in seconds or as a date", async () => {
    const later = () => new Date(Date.now() + 2000).toUTCString()
    await using receiver = await startReceiver(status(429, { "Retry-After": "1" }), (request, response) =>
      status(503, { "Retry-After": later() })(request, response),
    )
    expect(await ended(await addJob(receiver.url))).toMatchObject({ state: "done", attempt: 3 })
    const [first, second, third] = receiver.calls.map(({ at }) => at)
    expect(second! - first!).toBeGreaterThanOrEqual(1000)
    // A date has whole seconds.
    expect(third! - second!).toBeGreaterThanOrEqual(1000)
  })

  it("makes a call again whose worker was killed with it, and keeps those that wait", async () => {
    await using receiver = await startReceiver(hang)
    await using waiting = await startReceiver(status(503, { "Retry-After": "2" }))
    const [cut, kept] = [await addJob(receiver.url), await addJob(waiting.url)]
    await vi.waitFor(() => expect([receiver.calls.length, waiting.calls.length]).toEqual([1, 1]), 60_000)
    await queue.stop()
    queue = await start()
    expect(await ended(cut)).toMatchObject({ state: "done", attempt: 2 })
    expect(await ended(kept)).toMatchObject({ state: "done", attempt: 2 })
    expect(receiver.calls.map(({ key }) => key)).toEqual(Array(2).fill(`job-${cut}`))
  })

  it("refuses what is not a job", async () => {
    for (const body of ["{", '{"url":"no address"}', "null"]) {
      expect((await fetch(`${queue.url}/jobs`, { method: "POST", body })).status).toBe(400)
    }
    expect((await fetch(`${queue.url}/jobs/999`)).status).toBe(404)
  })
})
