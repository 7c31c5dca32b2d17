import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { text } from "node:stream/consumers"
import { setTimeout } from "node:timers/promises"
import { parseDuration, schedule } from "@outreach/retry-policy"
import { call } from "./call.ts"
import { createQueue } from "./queue.ts"

const {
  DATABASE = "jobs.db",
  HOST = "127.0.0.1",
  PORT = "3000",
  RETRY_DELAYS = "1s, 10s, 1m, 10m, 1h, 6h",
  CALL_TIMEOUT = "10s",
} = process.env

const timeoutMs = parseDuration(CALL_TIMEOUT, "CALL_TIMEOUT")
const policy = schedule(RETRY_DELAYS, { jitter: "equal", deadline: "2d", maxRetryAfter: "6h" })
const queue = createQueue(new DatabaseSync(DATABASE), policy, { leaseMs: 2 * timeoutMs })

// POST /jobs with { url, body }; GET /jobs/1 returns its state. Only for local use, because it calls any URL.
createServer(async (request, response) => {
  const answer = (status: number, value: unknown) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value))
  try {
    const [, id] = /^\/jobs\/(\d{1,15})$/.exec(request.url ?? "") ?? []
    if (request.method === "POST" && request.url === "/jobs") {
      const { url, body } = JSON.parse(await text(request))
      if (!URL.canParse(url)) return answer(400, { error: "url must be an address" })
      return answer(202, { id: queue.add(url, JSON.stringify(body ?? null)) })
    }
    const job = id && queue.find(Number(id))
    return job ? answer(200, job) : answer(404, { error: "there is no such job" })
  } catch {
    return answer(400, { error: "the body must be JSON" })
  }
}).listen(Number(PORT), HOST)

for (;;) {
  const jobs = queue.lease(16)
  await Promise.all(jobs.map(async (job) => queue.settle(job, await call(job, timeoutMs))))
  if (jobs.length === 0) await setTimeout(100)
}
