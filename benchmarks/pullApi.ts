import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import postgres from "postgres"
import { assertSameResponses } from "./assertSameResponses.ts"
import { parentOf } from "./cpuTime.ts"
import { measureDepth } from "./measureDepth.ts"
import { measureRounds, type Workload } from "./measureRounds.ts"
import { profileCandidates } from "./profileCandidates.ts"
import { reportDepth, reportMachine, reportProfiles, reportRounds } from "./report.ts"
import { seed } from "./seed.ts"
import { startLoadGenerator } from "./startLoadGenerator.ts"
import { CANDIDATES, type CandidateName, type Server, startServer } from "./startServer.ts"

// Compares the API with a hand-written baseline: both serve the same requests from the same database.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    /** Profiles the candidates instead of measuring them. */
    profile: { type: "boolean", default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const CONNECTIONS = 48
const WARM_UP_SECONDS = 3

const database = await startPostgres({ durable: true })
reportMachine()
const seeded = await seed(database.url, { recipients: 100_000, deepRecipients: values.profile ? 1_000 : 1_000_000 })
const load = startLoadGenerator(seeded.keys)
const workloads: readonly Workload[] = [
  { name: "token look-up", targets: seeded.tokens.map((token) => `/v1/partners/consumer/tokens/${token}`) },
  {
    name: "100 recipients",
    targets: seeded.times.map((time) => `/v1/partners/consumer/tokens?since=${time}&limit=100`),
  },
  {
    name: "100 events",
    targets: seeded.times.map((time) => `/v1/partners/consumer/events?since=${time}&limit=100`),
  },
  { name: "an empty last page", targets: ["/v1/partners/consumer/events?since=2999-01-01T00:00:00Z"] },
]

if (values.profile) {
  for (const workload of workloads)
    reportProfiles(workload.name, "request", await profileCandidates(database.url, load, workload, CONNECTIONS))
} else {
  const start = (candidate: CandidateName) =>
    Promise.all([startServer(candidate, database.url), startServer(candidate, database.url)])
  const servers: Readonly<Record<CandidateName, readonly [Server, Server]>> = {
    ours: await start("ours"),
    baseline: await start("baseline"),
  }
  const compared = await assertSameResponses(
    { ours: servers.ours[0], baseline: servers.baseline[0] },
    { key: seeded.keys[0]!, token: seeded.tokens[0]!, since: seeded.times[0]! },
  )
  console.log(`Both returned the same response to ${compared} requests.\n`)

  const postmaster = await postmasterOf(database.url)
  const bench = { servers, load, postmaster, connections: CONNECTIONS }
  for (const workload of workloads) {
    await measureRounds(bench, workload, { processes: 2, rounds: 1, seconds: WARM_UP_SECONDS })
    for (const processes of [1, 2]) {
      reportRounds(workload, processes, await measureRounds(bench, workload, { processes, rounds, seconds }))
    }
  }
  reportDepth(await measureDepth(servers.ours[0].url, seeded.deepKeys))
  for (const candidate of CANDIDATES) await Promise.all(servers[candidate].map(({ stop }) => stop()))
}
load.stop()
await database.stop()

async function postmasterOf(url: string): Promise<number> {
  const sql = postgres(url, { max: 1 })
  const [row] = await sql<{ pid: number }[]>`select pg_backend_pid() as pid`
  const postmaster = parentOf(row!.pid)
  await sql.end()
  return postmaster
}
