import { chmod, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { migrate } from "@outreach/postgres/migrate"
import { adaptersFor } from "@outreach/postgres/test/adaptersFor"
import { seedCampaign } from "@outreach/postgres/test/seedCampaign"
import { Effect, Redacted } from "effect"
import postgres from "postgres"
import { parentOf } from "./cpuTime.ts"
import { measureRounds, type Question } from "./measureRounds.ts"
import { profileSides } from "./profileSides.ts"
import { reportMachine, reportProfile, reportRounds } from "./report.ts"
import { startLoadGenerator } from "./startLoadGenerator.ts"
import { type Mains, type Server, SIDES, type Side, startServer } from "./startServer.ts"

// Sends the API and a hand-written peer signed events, each a new one, which both store in a PostgreSQL that forgets nothing.

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "5" },
    seconds: { type: "string", default: "2" },
    connections: { type: "string", default: "1,16,48" },
    /** Says where the time goes instead of how much there is. */
    profile: { type: "boolean", default: false },
  },
})
const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)]
const WARM_UP_SECONDS = 3
const MAINS: Mains = {
  ours: fileURLToPath(import.meta.resolve("@outreach/api/main")),
  peer: fileURLToPath(import.meta.resolve("./receiver/peer.ts")),
}

const folder = await mkdtemp(join(tmpdir(), "outreach-receiver-"))
// The server's user is another when this process is root's.
await chmod(folder, 0o711)
const database = await startPostgres({ dataDirectory: folder })
const sql = postgres(database.url, { max: 1, onnotice: () => {} })
const [{ pid }] = (await sql`select pg_backend_pid() as pid`) as unknown as [{ pid: number }]
const { endpoint, secret } = await Effect.runPromise(
  Effect.andThen(migrate, seedCampaign({ recipients: 0 })).pipe(Effect.provide(adaptersFor(database.url))),
)
const webhook = { path: `/v1/partners/consumer/webhooks/${endpoint.id}`, secret: Redacted.value(secret) }
const load = startLoadGenerator()
reportMachine()

const questions = values.connections.split(",").map((connections) => ({
  connections: Number(connections),
  question: { name: `signed events, ${connections} at once`, webhook } satisfies Question,
}))
if (values.profile) {
  const { question, connections } = questions.at(-1)!
  reportProfile(question, await profileSides(database.url, load, question, connections, MAINS))
} else {
  const start = (side: Side) =>
    Promise.all([startServer(side, database.url, [], MAINS), startServer(side, database.url, [], MAINS)])
  const servers: Readonly<Record<Side, readonly [Server, Server]>> = {
    ours: await start("ours"),
    peer: await start("peer"),
  }
  const bench = { servers, load, postmaster: parentOf(pid) }
  for (const { question, connections } of questions) {
    const at = { ...bench, connections }
    await measureRounds(at, question, { processes: 2, rounds: 1, seconds: WARM_UP_SECONDS })
    for (const processes of [1, 2].slice(0, connections)) {
      reportRounds(question, processes, await measureRounds(at, question, { processes, rounds, seconds }))
    }
  }
  for (const side of SIDES) await Promise.all(servers[side].map(({ stop }) => stop()))
}
load.stop()
await sql.end()
await database.stop()
await rm(folder, { recursive: true, force: true, maxRetries: 5 })
