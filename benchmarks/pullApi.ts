import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import postgres from "postgres"
import { parentOf } from "./cpuTime.ts"
import { measureDepth } from "./measureDepth.ts"
import { measureRounds, type Question } from "./measureRounds.ts"
import { profileSides } from "./profileSides.ts"
import { reportDepth, reportMachine, reportProfile, reportRounds } from "./report.ts"
import { sameAnswers } from "./sameAnswers.ts"
import { seed } from "./seed.ts"
import { startLoadGenerator } from "./startLoadGenerator.ts"
import { type Server, SIDES, type Side, startServer } from "./startServer.ts"

// Asks the API and a hand-written peer the same over the same database, and says what each takes.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    /** Says where the time goes instead of how much there is. */
    profile: { type: "boolean", default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const CONNECTIONS = 48
const WARM_UP_SECONDS = 3

const database = await startPostgres()
reportMachine()
const seeded = await seed(database.url, { recipients: 100_000, deepRecipients: values.profile ? 1_000 : 1_000_000 })
const load = startLoadGenerator(seeded.keys)
const questions: readonly Question[] = [
  { name: "token look-up", targets: seeded.tokens.map((token) => `/v1/partners/consumer/tokens/${token}`) },
  {
    name: "100 recipients",
    targets: seeded.times.map((time) => `/v1/partners/consumer/tokens?since=${time}&limit=100`),
  },
  {
    name: "100 events",
    targets: seeded.times.map((time) => `/v1/partners/consumer/events?since=${time}&limit=100`),
  },
]

if (values.profile) {
  for (const question of questions)
    reportProfile(question, await profileSides(database.url, load, question, CONNECTIONS))
} else {
  const start = (side: Side) => Promise.all([startServer(side, database.url), startServer(side, database.url)])
  const servers: Readonly<Record<Side, readonly [Server, Server]>> = {
    ours: await start("ours"),
    peer: await start("peer"),
  }
  const compared = await sameAnswers(
    { ours: servers.ours[0], peer: servers.peer[0] },
    { key: seeded.keys[0]!, token: seeded.tokens[0]!, since: seeded.times[0]! },
  )
  console.log(`Both answered ${compared} requests alike.\n`)

  const postmaster = await postmasterOf(database.url)
  const bench = { servers, load, postmaster, connections: CONNECTIONS }
  for (const question of questions) {
    await measureRounds(bench, question, { processes: 2, rounds: 1, seconds: WARM_UP_SECONDS })
    for (const processes of [1, 2]) {
      reportRounds(question, processes, await measureRounds(bench, question, { processes, rounds, seconds }))
    }
  }
  reportDepth(await measureDepth(servers.ours[0].url, seeded.deepKeys))
  for (const side of SIDES) await Promise.all(servers[side].map(({ stop }) => stop()))
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
