import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { runMigrations } from "@outreach/postgres/migrations/runMigrations"
import { adaptersFor, SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, References } from "effect"
import { SqlClient } from "effect/sql"
import { cpuTime, parentOf } from "./cpuTime.ts"
import { fieldsOf, htmlFor, subjectFor, TEMPLATE } from "./email/message.ts"
import { median } from "./median.ts"

// Compares one deployed worker that sends a campaign with nodemailer's pool, which sends the same number of pre-rendered messages.

const { values } = parseArgs({
  options: { recipients: { type: "string", default: "50000" }, rounds: { type: "string", default: "3" } },
})
const [recipients, rounds] = [Number(values.recipients), Number(values.rounds)]
/** The share of the messages for the warm-up of each candidate. */
const WARM_UP_SHARE = 0.1

const server = await startPostgres({ durable: true })
const catcher = fork(fileURLToPath(import.meta.resolve("./email/catcher.ts")))
const [{ port }] = (await once(catcher, "message")) as [{ port: number }]
const SMTP_URL = `smtp://127.0.0.1:${port}`
const caught = async () => {
  catcher.send("count")
  const [{ count }] = (await once(catcher, "message")) as [{ count: number }]
  return count
}
const run = <A>(effect: Effect.Effect<A, unknown, SqlClient.SqlClient>) =>
  Effect.runPromise(
    effect.pipe(Effect.provide(adaptersFor(server.url)), Effect.provideService(References.MinimumLogLevel, "None")),
  )
const query = <Row extends object>(
  statement: (sql: SqlClient.SqlClient) => Effect.Effect<ReadonlyArray<Row>, unknown>,
) => run(Effect.flatMap(SqlClient.SqlClient, statement))

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]!.model}`)
console.log(`${recipients} messages a round, ${rounds} rounds, messages/s after the first ${WARM_UP_SHARE * 100} %\n`)
await run(runMigrations() as Effect.Effect<unknown, unknown, SqlClient.SqlClient>)

const postmaster = await run(
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ pid: number }>`select pg_backend_pid() as pid`).pipe(
    Effect.map(([backend]) => parentOf(backend!.pid)),
  ),
)
const measurePool = () =>
  measure(start(import.meta.resolve("./email/pool.ts"), { SMTP_URL, MESSAGES: String(recipients) }))
const ratios: number[] = []
const cpuRatios: number[] = []
for (let round = 1; round <= rounds; round++) {
  // The order alternates, so that neither candidate always runs second.
  const first = round % 2 === 1 ? await measureWorker() : undefined
  const theirs = await measurePool()
  const ours = first ?? (await measureWorker())
  ratios.push(ours.perSecond / theirs.perSecond)
  cpuRatios.push(theirs.cpu / ours.cpu)
  for (const [name, it] of Object.entries({ worker: ours, "nodemailer's pool": theirs })) {
    console.log(
      `  ${name.padEnd(20)}${it.perSecond.toFixed(0).padStart(8)} /s   CPU µs: process ${it.cpu.toFixed(0)}, PostgreSQL ${it.databaseCpu.toFixed(0)}, mail server ${it.catcherCpu.toFixed(0)}   MiB at each tenth ${it.memory.join(" ")}`,
    )
  }
}
const summary = (values: ReadonlyArray<number>): string =>
  `${median(values).toFixed(2)} (${values.map((value) => value.toFixed(2)).join(" ")})`
console.log(`\n  messages/s, worker ÷ nodemailer's pool   ${summary(ratios)}`)
console.log(`  messages per CPU second of the process  ${summary(cpuRatios)}`)
catcher.disconnect()
await server.stop()

/** Seeds and publishes a campaign before its window, and then opens the window. */
async function measureWorker() {
  const { campaign } = await run(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const seeded = yield* seedCampaign({
        ...{ recipients, opensIn: 86_400, fieldsOf },
        fields: ["first_name", "last_name", "specialty"],
      })
      // Only sending is measured, so webhooks are disabled.
      yield* sql`update webhook_endpoints set enabled = false`
      yield* sql`
        update campaigns set subject = ${subjectFor(TEMPLATE)}, html = ${htmlFor(TEMPLATE)} where id = ${seeded.campaign.id}`
      yield* scheduleCampaign(seeded.campaign.id)
      return seeded
    }) as Effect.Effect<Effect.Success<ReturnType<typeof seedCampaign>>, unknown, SqlClient.SqlClient>,
  )
  const worker = start(import.meta.resolve("@outreach/worker/main"), {
    DATABASE_URL: server.url,
    SECRETS_KEY: SECRETS_KEY.toString("base64"),
    SMTP_URL,
    MAIL_FROM: "Acme <outreach@acme.test>",
    ADMIN_PORT: "0",
    LOG_LEVEL: "error",
  })
  while (
    (await query((sql) => sql`select from campaigns where id = ${campaign.id} and status = 'published'`)).length === 0
  ) {
    await sleep(200)
  }
  // The messages were due at the start of the window, a day from now.
  await query((sql) => sql`update messages set due_at = clock_timestamp()`)
  await query((sql) => sql`vacuum analyze`)
  await query((sql) => sql`update campaigns set window_start = clock_timestamp() where id = ${campaign.id}`)
  // Their turn was also scheduled for the window.
  await query((sql) => sql`update campaign_turns set next_at = clock_timestamp()`)
  await query((sql) => sql`update organization_turns set next_at = clock_timestamp()`)
  return measure(worker)
}

function start(main: string, env: Readonly<Record<string, string>>): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(main)], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...env },
    stdio: ["ignore", "ignore", "inherit"],
  })
}

/** Waits until the catcher has received all messages of a process, and kills the process. */
async function measure(child: ChildProcess) {
  const from = await caught()
  const ended = once(child, "exit")
  const memory: number[] = []
  const cpuTimes = () => [child.pid!, postmaster, catcher.pid!].map(cpuTime)
  let warm: { readonly at: number; readonly count: number; readonly cpu: ReadonlyArray<number> } | undefined
  for (let count = 0; ; await sleep(5)) {
    count = (await caught()) - from
    if (count >= recipients * WARM_UP_SHARE) warm ??= { at: performance.now(), count, cpu: cpuTimes() }
    if (count >= (recipients * (memory.length + 1)) / 10) memory.push(residentMiB(child.pid!))
    if (count >= recipients) {
      const seconds = (performance.now() - warm!.at) / 1000
      const [cpu, databaseCpu, catcherCpu] = cpuTimes().map((time, i) => (time - warm!.cpu[i]!) / (count - warm!.count))
      child.kill("SIGKILL")
      await ended
      return {
        perSecond: (count - warm!.count) / seconds,
        cpu: cpu!,
        databaseCpu: databaseCpu!,
        catcherCpu: catcherCpu!,
        memory,
      }
    }
  }
}

function residentMiB(pid: number): number {
  try {
    return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024)
  } catch {
    return 0
  }
}
