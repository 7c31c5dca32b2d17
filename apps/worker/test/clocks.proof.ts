import { findProgram } from "@outreach/debian-packages/findProgram"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { publishSent, seedCampaign } from "@outreach/testing/seedCampaign"
import { settableClock } from "@outreach/testing/settableClock"
import { fragment, sql } from "@outreach/testing/sql"
import type { AtEnd } from "@outreach/testing/startProcess"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { eventually, until } from "@outreach/testing/until"
import { Effect, type Layer } from "effect"
import { expect, it } from "vitest"
import { startWorker } from "./startWorker.ts"

const DAYS = 800
const RETENTION = {
  ...{ HISTORY_DAYS: "90", EVENTS_MONTHS: "3", INBOX_MONTHS: "3", DEAD_LETTERS_DAYS: "90", RECIPIENTS_MONTHS: "3" },
}
const DOUBTED = "database clock not trusted, deletion by age paused"
const PAUSED = "worker paused, its clock and the database's differ by over an hour"

type Services = Layer.Success<ReturnType<typeof adaptersFor>>
const libfaketime = findProgram("libfaketime")

/** Starts a server with an adjustable clock, a partner, a mail server, and a worker with an adjustable clock. */
const startAll = async (library: string, atEnd: AtEnd) => {
  const clocks = { database: await settableClock(library, atEnd), worker: await settableClock(library, atEnd) }
  const server = await startPostgres({
    environment: clocks.database.environment,
    settings: { synchronous_commit: "on" },
  })
  atEnd(server.stop)
  const run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> =>
    Effect.runPromise(Effect.provide(effect, adaptersFor(server.url)))
  const query = <Row extends object>(text: string) => run(sql.unsafe<Row>(text))
  await run(migrateWithRoles)
  const mails = await mailServer({ atEnd })
  const to = await partner(undefined, atEnd)
  const startOne = () =>
    startWorker(
      server.url,
      { ...RETENTION, ...clocks.worker.environment, SMTP_URL: mails.url, LOG_LEVEL: "info" },
      atEnd,
    )
  return {
    ...{ clocks, run, query, mails, to, startOne },
    restartDatabase: async (meanwhile: () => Promise<void>) => {
      await server.kill()
      await meanwhile()
      await server.restart()
    },
  }
}
type All = Awaited<ReturnType<typeof startAll>>

/** Stores rows that are 80 days old in each table with retention. */
const seedHistory = Effect.gen(function* () {
  const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 2 })
  const [recipient] = yield* sql<{ id: string }>`select id from recipients where organization_id = ${organization.id}`
  const id = organization.id
  const old = fragment`clock_timestamp() - interval '80 days'`
  for (const table of ["events", "inbox", "hits"])
    yield* sql`select add_partitions(${table}, clock_timestamp() - interval '100 days')`
  yield* sql`
    insert into events (organization_id, id, type, campaign_id, program_id, occurred_at, emitted_at, body)
    values (${id}, 'evt_old', 'outreach.email_sent', ${campaign.id}, 'pgm_1', ${old}, ${old}, '{}')`
  yield* sql`
    insert into inbox (organization_id, event_id, endpoint_id, secret_id, type, body, received_at, applied_at)
    values (${id}, 'evt_theirs', ${endpoint.id}, 'sec_1', 'clinician.learner_qualified', '{}', ${old}, ${old})`
  yield* sql`
    insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
    select ${id}, 'hit_' || lpad(to_hex((extract(epoch from ${old}) * 1000)::bigint), 12, '0') || repeat('0', 20), ${recipient!.id}, 'open', 'GET',
      '198.51.100.7', '{}', ${old}, ${old}, '{}'`
  yield* sql`
    insert into message_attempts (organization_id, recipient_id, number, outcome, first_at, last_at)
    values (${id}, ${recipient!.id}, 1, 'accepted', ${old}, ${old})`
  yield* sql`insert into delivery_outcomes (organization_id, endpoint_id, at, seconds) values (${id}, ${endpoint.id}, ${old}, 3600)`
  yield* sql`
    insert into failure_groups (organization_id, id, endpoint_id, outcome, open, stored, opened_at, last_at)
    values (${id}, 'fgr_old', ${endpoint.id}, 'client_error', 1, 1, ${old}, ${old})`
  yield* sql`
    insert into dead_letters (organization_id, id, endpoint_id, event_id, reason, attempts, group_id, created_at, finished_at)
    values (${id}, 'dlv_old', ${endpoint.id}, 'evt_old', 'rejected', '[]', 'fgr_old', ${old}, ${old})`
  yield* sql`
    insert into delivered (organization_id, id, endpoint_id, event_id, attempts, created_at, finished_at)
    values (${id}, 'dlv_done', ${endpoint.id}, 'evt_old', '[]', clock_timestamp() - interval '20 days', clock_timestamp() - interval '20 days')`
  yield* sql`update campaigns set status = 'completed', updated_at = ${old}, window_start = ${old} - interval '1 hour', window_end = ${old} where id = ${campaign.id}`
  yield* sql`
    insert into stored_responses (organization_id, key, fingerprint, status, headers, encoding, bytes_before)
    values (${id}, 'key', '', 200, '{}', 'identity', 0)`
})

/** Lists the keys of all rows of tables with retention, and the partitions that are dropped by age. */
const listRows = async ({ query }: All) => {
  const rows = await query<{ key: string }>(`
    select 'event ' || id as key from events union all select 'inbox ' || event_id from inbox union all select 'hit ' || id from hits
    union all select 'delivered ' || id from delivered union all select 'dead letter ' || id from dead_letters
    union all select format('attempt %s %s', recipient_id, number) from message_attempts
    union all select format('outcomes %s', at) from delivery_outcomes where seconds = 3600
    union all select 'recipient ' || id from recipients where erased_at is null
    union all select 'response ' || key from stored_responses
    union all select name from unnest(array['events', 'inbox', 'delivered']) parent cross join partition_ranges(parent)`)
  return new Set(rows.map(({ key }) => key))
}

const ALL = [
  ...["clinician0@first.test", "clinician0@second.test", "clinician0@third.test", "clinician1@first.test"],
  ...["clinician1@second.test", "clinician2@first.test"],
]

it.concurrent.for([
  { side: "database", days: DAYS, how: "stepped" },
  { side: "database", days: -DAYS, how: "restarted" },
  { side: "worker", days: -DAYS, how: "stepped" },
  { side: "worker", days: DAYS, how: "restarted" },
] as const)(
  "loses no row, e-mail or webhook when the clock of the $side is $how by $days days, and all is normal afterwards",
  async ({ side, days, how }, { skip, onTestFinished }) => {
    if ("missing" in libfaketime) return skip(libfaketime.missing)
    const all = await startAll(libfaketime.program, onTestFinished)
    const { run, query, mails, to, clocks, startOne } = all
    await run(seedHistory)
    const launch = (recipients: number, emailDomain: string) =>
      run(
        Effect.gen(function* () {
          const isFirst = emailDomain === "first.test"
          const seeded = yield* seedCampaign({ recipients, emailDomain, ...(isFirst && { endpointUrl: to.url }) })
          if (isFirst) to.trust(seeded.secret)
          yield* scheduleCampaign(seeded.campaign.id)
          return seeded.campaign
        }),
      )
    const campaign = await launch(3, "first.test")
    let worker = await startOne()
    await until(mails, ({ messages }) => messages.length === 3)
    await until(to, ({ received }) => received.length >= 4)
    const before = await listRows(all)
    expect(before.size).toBeGreaterThan(30)

    const set = async (to: number) => {
      if (how === "stepped") return await clocks[side].set(to)
      if (side === "database") return await all.restartDatabase(() => clocks.database.set(to))
      await worker.kill("SIGTERM")
      await clocks.worker.set(to)
      worker = await startOne()
    }
    // Its e-mails are about to be sent when the clock jumps.
    await launch(2, "second.test")
    await set(days)
    await run(publishSent(campaign, 2))
    await until(worker, DOUBTED)
    // A second worker that starts now doesn't work either.
    const another = await startOne()
    await until(another, DOUBTED)
    await until(another, PAUSED)
    await another.kill("SIGTERM")
    const during = await listRows(all)
    expect([...before].filter((row) => !during.has(row))).toEqual([])

    await set(0)
    await eventually(
      () => query<{ now: string | null }>("select plausible_now()::text as now"),
      ([row]) => row!.now !== null,
    )
    if (how === "stepped" || side === "database") await until(worker, "database clock trusted again")
    await run(publishSent(campaign, 2))
    await until(to, ({ received }) => received.length >= 8)
    await launch(1, "third.test")
    await until(mails, ({ messages }) => messages.length >= 6)
    // A second worker that starts now deletes only expired data.
    await query(`
      insert into hits (organization_id, id, recipient_id, kind, method, address, headers, received_at, judged_at, reasons)
      select organization_id, 'hit_past', recipient_id, kind, method, address, headers, at, at, reasons
      from hits cross join lateral (select clock_timestamp() - interval '95 days' as at) past limit 1`)
    await startOne()
    await eventually(
      () => query("select from hits where id = 'hit_past'"),
      ({ length }) => length === 0,
    )
    const after = await listRows(all)
    expect([...during].filter((row) => !after.has(row))).toEqual([])
    expect(mails.messages.map(({ to }) => to.join()).sort()).toEqual(ALL)
    // No signature was rejected.
    expect(to.forged).toEqual([])
    expect(await query("select endpoint_id from dead_letters where id <> 'dlv_old'")).toEqual([])
  },
)
