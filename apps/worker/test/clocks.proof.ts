import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { findUnpacked } from "@outreach/debian-packages/findProgram"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { SendingHours } from "@outreach/domain/campaigns/SendingHours"
import { createIdentifier, type OrganizationId } from "@outreach/domain/Identifier"
import type { MessageClaim } from "@outreach/domain/mail/MessageQueue"
import { SESSION_SECONDS } from "@outreach/domain/operators/Operator"
import { OperatorRepository } from "@outreach/domain/operators/OperatorRepository"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { issueKey } from "@outreach/domain/organizations/ApiKeys"
import { Ramp } from "@outreach/domain/senders/Ramp"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { startPostgres } from "@outreach/embedded-postgres/startPostgres"
import { EventFeed, feedFrom } from "@outreach/postgres/events/EventFeed"
import { adaptersFor } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, sendCampaign } from "@outreach/testing/sendCampaign"
import { settableClock } from "@outreach/testing/settableClock"
import { migrateWithRoles } from "@outreach/testing/testRoles"
import { Effect, type Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { expect, it } from "vitest"
import { startWorker } from "./startWorker.ts"

const DAYS = 800
const WORKER_ROUND_MS = 8000
const RETENTION = {
  ...{ HISTORY_DAYS: "90", EVENTS_MONTHS: "3", INBOX_MONTHS: "3", DEAD_LETTERS_DAYS: "90", RECIPIENTS_MONTHS: "3" },
}

type Services = Layer.Success<ReturnType<typeof adaptersFor>>
const OPERATOR_ID = `opr_${"0".repeat(32)}`
const libfaketime = findUnpacked("libfaketime")

/** Cleans up after a test. The tests run at the same time, so each has its own. */
type AtEnd = (end: () => Promise<void>) => void

/** Starts a server whose clock can be set, a partner, a mail server and a worker whose clock can be set, too. */
const startAll = async (library: string, atEnd: AtEnd) => {
  const clocks = { database: await settableClock(library, atEnd), worker: await settableClock(library, atEnd) }
  const dataDirectory = await mkdtemp(join(tmpdir(), "outreach-clocks-"))
  const start = (port?: number) =>
    startPostgres({
      dataDirectory,
      environment: clocks.database.environment,
      settings: { fsync: "off" },
      ...(port && { port }),
    })
  let server = await start()
  atEnd(async () => {
    await server.stop()
    await rm(dataDirectory, { recursive: true, force: true, maxRetries: 5 })
  })
  const run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> =>
    Effect.runPromise(Effect.provide(effect, adaptersFor(server.url)))
  const query = <Row extends object>(text: string) =>
    run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Row>(text)))
  await run(migrateWithRoles)
  const mails = await mailServer(undefined, undefined, atEnd)
  const to = await partner(undefined, atEnd)
  const startOne = () =>
    startWorker(
      server.url,
      { ...RETENTION, ...clocks.worker.environment, SMTP_URL: mails.url, LOG_LEVEL: "info" },
      atEnd,
    )
  const stopOne = async ({ child, ended }: Awaited<ReturnType<typeof startOne>>) => {
    child.kill("SIGTERM")
    await ended
  }
  return {
    ...{ clocks, run, query, mails, to, startOne, stopOne },
    restartDatabase: async (meanwhile: () => Promise<void>) => {
      await server.stop()
      await meanwhile()
      server = await start(server.port)
    },
  }
}
type All = Awaited<ReturnType<typeof startAll>>

/** Stores what is 80 days old in each table that loses something by age. */
const seedHistory = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 2 })
  const [recipient] = yield* sql<{ id: string }>`select id from recipients where organization_id = ${organization.id}`
  const id = organization.id
  const old = sql`clock_timestamp() - interval '80 days'`
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
    insert into failure_group_hours (organization_id, group_id, hour, count) values (${id}, 'fgr_old', date_trunc('hour', ${old}), 1)`
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

/** Lists every row, by its key, of the tables that lose something by age, and their partitions. */
const listRows = async ({ query }: All) => {
  const rows = await query<{ key: string }>(`
    select 'event ' || id as key from events union all select 'inbox ' || event_id from inbox union all select 'hit ' || id from hits
    union all select 'delivered ' || id from delivered union all select 'dead letter ' || id from dead_letters
    union all select format('attempt %s %s', recipient_id, number) from message_attempts
    union all select format('outcomes %s', at) from delivery_outcomes where seconds = 3600
    union all select 'trend ' || group_id from failure_group_hours
    union all select 'recipient ' || id from recipients where erased_at is null
    union all select 'response ' || key from stored_responses
    union all select name from unnest(array['events', 'inbox', 'hits', 'delivered']) parent cross join partition_ranges(parent)`)
  return new Set(rows.map(({ key }) => key))
}

/** Starts one more worker, which does everything that is to be done at its start, and stops it. */
const oneMoreWorker = async ({ startOne, stopOne }: All) => {
  const worker = await startOne()
  await setTimeout(WORKER_ROUND_MS)
  await stopOne(worker)
  return worker.text
}

const EVERYBODY = [
  ...["clinician0@first.test", "clinician0@second.test", "clinician0@third.test", "clinician1@first.test"],
  ...["clinician1@second.test", "clinician2@first.test"],
]
const SIDES = ["worker", "database"] as const
const CASES = SIDES.flatMap((side) =>
  [DAYS, -DAYS].flatMap((days) => (["stepped", "restarted"] as const).map((how) => ({ side, days, how }))),
)

it.concurrent.for(CASES)(
  "loses no row, e-mail or webhook when the clock of the $side is $how by $days days, and all is normal afterwards",
  async ({ side, days, how }, { skip, onTestFinished }) => {
    if ("missing" in libfaketime) return skip(libfaketime.missing)
    const all = await startAll(libfaketime.program, onTestFinished)
    const { run, query, mails, to, clocks, startOne, stopOne } = all
    await run(seedHistory)
    const launched = await run(
      Effect.gen(function* () {
        const seeded = yield* seedCampaign({ recipients: 3, endpointUrl: to.url, emailDomain: "first.test" })
        to.trust(seeded.secret)
        yield* scheduleCampaign(seeded.campaign.id)
        return seeded
      }),
    )
    let worker = await startOne()
    await eventually(
      () => mails.messages.length,
      (count) => count === 3,
    )
    await eventually(
      () => to.received.length,
      (count) => count >= 4,
    )
    const before = await listRows(all)
    expect(before.size).toBeGreaterThan(30)

    const set = async (to: number) => {
      if (how === "stepped") return await clocks[side].set(to)
      if (side === "database") return await all.restartDatabase(() => clocks.database.set(to))
      await stopOne(worker)
      await clocks.worker.set(to)
      worker = await startOne()
    }
    // Its e-mails are about to be sent when the clock jumps.
    await run(
      Effect.gen(function* () {
        const { campaign } = yield* seedCampaign({ recipients: 2, emailDomain: "second.test" })
        yield* scheduleCampaign(campaign.id)
      }),
    )
    await set(days)
    await run(publishSent(launched.campaign, 2))
    const doubted = await eventually(
      () => /clock of the database not believed.*/.exec(worker.text)?.[0],
      (line) => line !== undefined,
    )
    await oneMoreWorker(all)
    const during = await listRows(all)
    expect([...before].filter((row) => !during.has(row))).toEqual([])

    await set(0)
    await eventually(
      () => query<{ now: string | null }>("select plausible_now()::text as now"),
      ([row]) => row!.now !== null,
    )
    if (how === "stepped" || side === "database") {
      await eventually(
        () => worker.text.includes("clock of the database believed again"),
        (isAgain) => isAgain,
      )
    }
    await run(publishSent(launched.campaign, 2))
    await eventually(
      () => to.received.length,
      (count) => count >= 8,
    )
    await run(
      Effect.gen(function* () {
        const { campaign } = yield* seedCampaign({ recipients: 1, emailDomain: "third.test" })
        yield* scheduleCampaign(campaign.id)
      }),
    )
    await eventually(
      () => mails.messages.length,
      (count) => count >= 6,
    )
    await oneMoreWorker(all)
    const after = await listRows(all)
    expect([...during].filter((row) => !after.has(row))).toEqual([])
    expect(mails.messages.map(({ to }) => to.join()).sort()).toEqual(EVERYBODY)
    // No signature was refused.
    expect(to.forged).toEqual([])
    expect(await query("select endpoint_id from dead_letters where id <> 'dlv_old'")).toEqual([])
    process.stdout.write(`${JSON.stringify({ side, days, how, doubted: doubted?.slice(0, 300), rows: after.size })}\n`)
  },
)

it.for([DAYS, -DAYS])(
  "shows what a jump of the database's clock by %s days does where no worker pauses",
  async (days, { skip, onTestFinished }) => {
    if ("missing" in libfaketime) return skip(libfaketime.missing)
    const { run, query, clocks } = await startAll(libfaketime.program, onTestFinished)
    const jump = (to: number) => clocks.database.set(to)
    const { campaign, organization } = await run(seedCampaign({ recipients: 4 }))
    const { text } = await run(
      issueKey({ organizationId: organization.id, name: "x", scopes: ["events:read"], expiresAt: null }),
    )
    await query(
      "update campaigns set window_start = '2020-01-01', window_end = '2040-01-01' where window_start < now()",
    )
    await run(sendCampaign(campaign.id))
    await query(`insert into operators (id, name, role) values ('${OPERATOR_ID}', 'Ann', 'viewer')`)
    const use = async () =>
      (await run(ApiKeyRepository.use(({ authenticateKey }) => authenticateKey(Redacted.value(text)))))!.count
    const claim = (limit: number) => run(claimMessages(limit))
    const page = async (after = feedFrom(fromUnixMillis(0))) => {
      const reading = EventFeed.use((feed) => feed.page(organization.id, ["outreach.email_sent"], after, 100))
      return (await run(reading)).rows
    }
    const isOpen = async (token: string) =>
      (await run(OperatorRepository.use(({ findSession }) => findSession(token, { isUse: false })))) !== undefined
    const signIn = async () => {
      const token = crypto.randomUUID()
      await query(
        `insert into operator_sessions (hash, operator_id, expires_at)
        values (sha256('${token}'), '${OPERATOR_ID}', statement_timestamp() + interval '${SESSION_SECONDS} seconds')`,
      )
      return token
    }

    const before = { token: await signIn(), leases: (await claim(1)).length, uses: [await use(), await use()] }
    await run(publishSent(campaign, 1))
    const [checkpoint] = await page()
    await jump(days)
    const during = {
      claimedAgain: (await claim(4)).length,
      keyUses: await use(),
      sessionIsOpen: await isOpen(before.token),
      token: await signIn(),
    }
    await run(publishSent(campaign, 1))
    await jump(0)
    await run(publishSent(campaign, 1))
    const seen = await page(checkpoint)
    const after = {
      claimed: (await claim(4)).length,
      keyUses: await use(),
      earlierSessionIsOpen: await isOpen(before.token),
      sessionOfJumpIsOpen: await isOpen(during.token),
      eventsSeen: seen.length,
      lastStamp: seen.at(-1)!.emittedAt,
    }
    // A poller misses nothing, whatever the clock says.
    expect(seen).toHaveLength(2)
    process.stdout.write(
      `${JSON.stringify({ days, before: { ...before, token: undefined }, during: { ...during, token: undefined }, after })}\n`,
    )
  },
)

it.for([DAYS, -DAYS])(
  "lets rates, ramps, hours and windows go on after a jump of the database's clock by %s days that claims have seen",
  async (days, { skip, onTestFinished }) => {
    if ("missing" in libfaketime) return skip(libfaketime.missing)
    const { run, query, clocks } = await startAll(libfaketime.program, onTestFinished)
    const figures: Record<string, unknown> = {}
    const claimed = async (options: Partial<MessageClaim> = {}) => (await run(claimMessages(100, options))).length
    // As a worker does, whose own clock is right.
    const jump = async (to: number) => {
      await clocks.database.set(to)
      await query(`select * from watch_clock(to_timestamp(${Date.now() / 1000}), null)`)
    }
    /** Notes what a look at a campaign says before, during and after a jump, and ends the campaign. */
    const look = async <A>(
      name: string,
      options: Parameters<typeof seedCampaign>[0],
      at: (id: string, when: "before" | "during" | "after") => Promise<A>,
    ) => {
      const { campaign } = await run(seedCampaign(options))
      if (name !== "window")
        await query(
          `update campaigns set window_start = '2020-01-01', window_end = '2040-01-01' where id = '${campaign.id}'`,
        )
      await run(sendCampaign(campaign.id))
      const before = await at(campaign.id, "before")
      await jump(days)
      const during = await at(campaign.id, "during")
      await jump(0)
      const after = await at(campaign.id, "after")
      await query(`update campaigns set status = 'cancelled' where id = '${campaign.id}'`)
      figures[name] = { before, during, after }
      return { before, during, after }
    }

    // One e-mail a second for all campaigns. So much passes between two claims, but not by a clock that went back.
    const rate = await look("rate", { recipients: 300 }, (_, when) =>
      eventually(
        () => claimed({ perMinute: 60 }),
        (taken) => taken > 0 || when === "during",
      ),
    )
    expect(rate.after).toBeGreaterThan(0)

    // Hours that are closed now, and stay so while the test runs.
    const hour = new Date().getUTCHours()
    const from = hour < 12 ? hour + 5 : hour - 10
    const closed = {
      ...{ recipients: 1, hours: SendingHours.make(`${from}-${from + 2}`), fields: ["time_zone"] },
      fieldsOf: () => ({ time_zone: "Africa/Abidjan" }),
    }
    const hours = await look("hours", closed, async (id) => {
      expect(await claimed()).toBe(0)
      return (await query<{ due: string }>(`select due_at::text as due from messages where campaign_id = '${id}'`))[0]!
        .due
    })
    expect(hours.after).toBe(hours.before)

    const window = await look("window", { recipients: 3 }, () => claimed())
    expect([window.before, window.during]).toEqual([3, 0])

    // A sender that may send two e-mails on its first day, and three on its second.
    const ramp = await look("ramp", { recipients: 9 }, async (id) => {
      await run(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const [{ organizationId } = {}] = yield* sql<{ organizationId: OrganizationId }>`
            select organization_id as "organizationId" from campaigns campaign
            where id = ${id} and not exists (select from senders where organization_id = campaign.organization_id)`
          if (organizationId === undefined) return
          const senders = yield* SenderRepository
          const sender = yield* senders.add(
            {
              ...{ organizationId, programId: null, fromName: "", replyTo: null, fromAddress: "outreach@acme.test" },
              ...{ id: yield* createIdentifier("sender"), dkimDomain: "acme.test", bounceDomain: null },
              ramp: Ramp.make("2,3"),
            },
            { selector: "s1", publicKey: "", privateKey: Redacted.make("") },
          )
          yield* senders.activate(sender.id)
        }),
      )
      const taken = await claimed()
      const [row] = await query<{ day: number; date: string }>(
        "select day_number as day, counted_on::text as date from sender_ramps",
      )
      return { taken, ...row! }
    })
    const today = new Date().toISOString().slice(0, 10)
    expect(ramp.before).toEqual({ taken: 2, day: 1, date: today })
    // The day of the jump was one of the ramp's days. It goes on as today, and what it gave counts.
    expect(ramp.after).toEqual({ taken: 0, day: days > 0 ? 2 : 1, date: today })
    process.stdout.write(`${JSON.stringify({ days, ...figures })}\n`)
  },
)
