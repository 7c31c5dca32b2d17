import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import postgres from "postgres"
import { parentOf } from "./cpuTime.ts"
import { measureRounds, type Workload } from "./measureRounds.ts"
import { profileCandidates } from "./profileCandidates.ts"
import { reportMachine, reportProfiles, reportRounds } from "./report.ts"
import { startLoadGenerator } from "./startLoadGenerator.ts"
import { CANDIDATES, type CandidateName, type Mains, type Server, startServer } from "./startServer.ts"

// Compares the webhook receiver of the API with a hand-written baseline: both store new signed events in a durable PostgreSQL.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "1,16,48" },
    /** Profiles the candidates instead of measuring them. */
    profile: { type: "boolean", default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const WARM_UP_SECONDS = 3
const MAINS: Mains = {
  ours: fileURLToPath(import.meta.resolve("@outreach/api/main")),
  baseline: fileURLToPath(import.meta.resolve("./receiver/baseline.ts")),
}

const database = await startPostgres({ durable: true })
const sql = postgres(database.url, { max: 1, onnotice: () => {} })
const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
const { endpoint, secret } = await Effect.runPromise(
  Effect.andThen(runMigrations(), seedCampaign({ recipients: 0 })).pipe(Effect.provide(adaptersFor(database.url))),
)
const webhook = { path: `/v1/partners/consumer/webhooks/${endpoint.id}`, secret: Redacted.value(secret) }
const load = startLoadGenerator()
reportMachine()

const workloads = values.connections.split(",").map((connections) => ({
  connections: Number(connections),
  workload: { name: `signed events, ${connections} at once`, webhook } satisfies Workload,
}))
if (values.profile) {
  const { workload, connections } = workloads.at(-1)!
  reportProfiles(workload.name, "request", await profileCandidates(database.url, load, workload, connections, MAINS))
} else {
  const start = (candidate: CandidateName) =>
    Promise.all([startServer(candidate, database.url, [], MAINS), startServer(candidate, database.url, [], MAINS)])
  const servers: Readonly<Record<CandidateName, readonly [Server, Server]>> = {
    ours: await start("ours"),
    baseline: await start("baseline"),
  }
  const bench = { servers, load, postmaster: parentOf(pid) }
  for (const { workload, connections } of workloads) {
    const at = { ...bench, connections }
    await measureRounds(at, workload, { processes: 2, rounds: 1, seconds: WARM_UP_SECONDS })
    for (const processes of [1, 2].slice(0, connections)) {
      reportRounds(workload, processes, await measureRounds(at, workload, { processes, rounds, seconds }))
    }
  }
  for (const candidate of CANDIDATES) await Promise.all(servers[candidate].map(({ stop }) => stop()))
}
load.stop()
await sql.end()
await database.stop()
