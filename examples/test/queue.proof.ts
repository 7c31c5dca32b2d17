import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { listen } from "@outreach/testing/listen"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { Changes, until } from "@outreach/testing/until"
import { describe, expect, it, vi } from "vitest"
import { projectServer, workspaceWith } from "./exampleProject.ts"

/** Responses of the receiver to the first calls of a job; 200 to all later ones. */
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

const queue = projectServer(workspaceWith("retry-policy"), "queue", {
  prepare: async () => ({ RETRY_DELAYS: "100ms, 200ms, 300ms", CALL_TIMEOUT: "1s" }),
})

/** Serves a receiver until the test is finished. */
async function startReceiver(...answers: readonly Answer[]) {
  const changes = new Changes()
  const calls: Call[] = []
  const server = createServer((request, response) => {
    const { "idempotency-key": key } = request.headers
    const answer = answers[calls.push({ key: String(key), at: Date.now() }) - 1] ?? status(200)
    changes.announce()
    request.resume().on("end", () => answer(request, response))
  })
  return { changes, calls, url: `http://127.0.0.1:${await listen(server)}/` }
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

const ended = (id: number): Promise<Job> =>
  vi.waitFor(
    async () => {
      const job = (await (await fetch(`${queue.url}/jobs/${id}`)).json()) as Job
      expect(job.state).not.toBe("waiting")
      return job
    },
    { timeout: 60_000, interval: 50 },
  )

describe("the queue in examples/queue", () => {
  it.each<[string, readonly Answer[], Job]>([
    ["responds at once", [], { state: "done", attempt: 1, reason: "200" }],
    ["is overloaded", [status(503), status(500)], { state: "done", attempt: 3, reason: "200" }],
    ["limits its callers", [status(429), status(425), status(408)], { state: "done", attempt: 4, reason: "200" }],
    ["breaks the connection off", [cutOff, breakBody], { state: "done", attempt: 3, reason: "200" }],
    ["doesn't respond in time", [hang], { state: "done", attempt: 2, reason: "200" }],
    ["refuses the call", [status(410)], { state: "dead", attempt: 1, reason: "410, permanent" }],
    ["always fails", Array(9).fill(status(500)), { state: "dead", attempt: 4, reason: "500, exhausted" }],
  ])("repeats a call if that may help, where the receiver %s", async (_, answers, job) => {
    const receiver = await startReceiver(...answers)
    const id = await addJob(receiver.url)
    expect(await ended(id)).toMatchObject(job)
    expect(receiver.calls.map(({ key }) => key)).toEqual(Array(job.attempt).fill(`job-${id}`))
  })

  it("gives up a receiver that refuses connections", async () => {
    const job = await ended(await addJob(`http://${loopbackAddress()}:3000/`))
    expect(job).toMatchObject({ state: "dead", attempt: 4, reason: "ECONNREFUSED, exhausted" })
  })

  it("makes a call again whose worker was killed with it, and keeps those that wait", async () => {
    const receiver = await startReceiver(hang)
    const waiting = await startReceiver(status(503, { "Retry-After": "2" }))
    const [cut, kept] = [await addJob(receiver.url), await addJob(waiting.url)]
    for (const source of [receiver, waiting]) await until(source, ({ calls }) => calls.length === 1)
    await queue.restart()
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
