/** Stores the runs of cron jobs on other machines, and returns the last run of each job. */
import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { buffer } from "node:stream/consumers"
import { SignatureError, verify } from "@outreach/signature/node"
import { deduplicate, sqliteStore } from "@outreach/webhook-verifier/deduplicate"
import { nowInSeconds, type Run, readSecrets, SIGNATURE_HEADER } from "./run.ts"

const { DATABASE = "runs.db", HOST = "127.0.0.1", PORT = "3000" } = process.env
const MAX_BYTES = 10_000
const secrets = readSecrets()

const database = new DatabaseSync(DATABASE, { timeout: 5000 })
database.exec(`create table if not exists runs (
  job text not null,
  exit_code integer not null,
  started_at integer not null,
  seconds integer not null
) strict`)
const insert = database.prepare("insert into runs values (:job, :exit_code, :started_at, :seconds)")
// SQLite takes the other columns from the row with the maximum.
const lastRuns = database.prepare(`
  select job, exit_code, max(started_at) as started_at, seconds, count(*) as runs from runs group by job order by job`)

// A report is repeated if its response was lost.
const store = deduplicate(sqliteStore(database), ({ job, exit_code, started_at, seconds }: Run) => {
  insert.run({ job, exit_code, started_at, seconds })
})

createServer(async (request, response) => {
  const respond = (status: number, value: unknown) =>
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value))
  if (request.method === "GET" && request.url === "/jobs") return respond(200, lastRuns.all())
  if (request.method !== "POST" || request.url !== "/runs") return respond(404, { error: "not_found" })
  if (!(Number(request.headers["content-length"]) <= MAX_BYTES)) return respond(413, { error: "body_too_large" })
  try {
    const body = await buffer(request)
    const header = request.headers[SIGNATURE_HEADER]?.toString()
    const { secretIndex } = verify(header, body, secrets, { now: nowInSeconds() })
    const run: Run = JSON.parse(body.toString())
    if (secretIndex > 0) console.log(`${run.job} still signs with an old secret`)
    await store(run)
    return respond(200, { stored: run.event_id })
  } catch (error) {
    if (error instanceof SignatureError) return respond(401, { error: error.code })
    console.error(error)
    return respond(500, { error: "not_stored" })
  }
}).listen(Number(PORT), HOST, () => console.log(`listening on http://${HOST}:${PORT}`))
