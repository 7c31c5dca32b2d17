/** Runs a command and reports its result: `node src/report.ts nightly-backup pg_dump --file backup.sql shop`. Exits with its code. */
import { spawnSync } from "node:child_process"
import { randomUUID } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import { sign } from "@outreach/signature/node"
import { nowInSeconds, type Run, readSecrets, SIGNATURE_HEADER } from "./run.ts"

const url = process.env.RUNS_URL ?? "http://127.0.0.1:3000/runs"
const secrets = readSecrets()
const [job, program, ...args] = process.argv.slice(2)
if (job === undefined || program === undefined) throw new Error("give the job's name and its command")

const started_at = nowInSeconds()
const { status, error } = spawnSync(program, args, { stdio: "inherit" })
if (error) console.error(error.message)
const exit_code = status ?? 1
const run: Run = { event_id: randomUUID(), job, exit_code, started_at, seconds: nowInSeconds() - started_at }
const body = JSON.stringify(run)

/** Returns undefined if the server has stored the run, otherwise the failure. Each attempt has a new signature, because the server rejects old ones. */
async function send(): Promise<string | undefined> {
  try {
    const headers = { [SIGNATURE_HEADER]: sign(body, secrets, { timestamp: nowInSeconds() }) }
    const response = await fetch(url, { method: "POST", body, headers, signal: AbortSignal.timeout(10_000) })
    return response.ok ? undefined : `${response.status} ${await response.text()}`
  } catch (error) {
    return String(error)
  }
}

let failure = await send()
for (let attempt = 1; failure !== undefined && attempt < 3; attempt++) {
  await sleep(1000 * attempt)
  failure = await send()
}
if (failure !== undefined) console.error(`The run is not reported: ${failure}`)
process.exitCode = exit_code
