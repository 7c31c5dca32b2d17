import { EventEmitter, once } from "node:events"
import { describe, expect, it } from "@effect/vitest"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { createCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { eventually } from "@outreach/testing/eventually"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { FOOTER, seedCampaign } from "@outreach/testing/seedCampaign"
import { until } from "@outreach/testing/until"
import { Clock, Deferred, Effect } from "effect"
import { SqlClient } from "effect/sql"
import { journey } from "../journey.ts"
import { startWorker } from "../startWorker.ts"

const { url, run, query, kill, endLeases } = journey()

/** Rows whose writer stops when they are written, and before that is committed. */
interface Written {
  readonly table: string
  /** A condition on `old` and `new`. */
  readonly when: string
}

/** Stops whoever writes such rows until the returned function is called. */
const stopWriters = async ({ table, when }: Written) => {
  await query((sql) =>
    sql.unsafe(`
      create or replace function stop_writer() returns trigger language plpgsql as $$
      begin
        perform pg_advisory_xact_lock_shared(1);
        return null;
      end $$`),
  )
  await query((sql) =>
    sql.unsafe(`create or replace trigger stop_writer after update on ${table} for each row when (${when})
    execute function stop_writer()`),
  )
  const held = Deferred.makeUnsafe<void>()
  const over = Deferred.makeUnsafe<void>()
  const holding = run(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`select pg_advisory_xact_lock(1)`
          yield* Deferred.succeed(held, undefined)
          yield* Deferred.await(over)
        }),
      ),
    ),
  )
  await run(Deferred.await(held))
  const stopped = () =>
    query(
      (sql) => sql`
        select from pg_stat_activity
        where application_name like 'outreach-worker/%' and datname = current_database() and wait_event = 'advisory'`,
    )
  return {
    reached: () => eventually(stopped, ({ length }) => length > 0),
    letGo: async () => {
      await run(Deferred.succeed(over, undefined))
      await holding
      await query((sql) => sql.unsafe(`drop trigger stop_writer on ${table}`))
    },
  }
}

/** A mail server that can be told to leave messages unanswered that it has received completely. */
const startMailServer = async () => {
  const steps = new EventEmitter()
  let isHolding = false
  const mail = await mailServer(undefined, async () => {
    if (!isHolding) return
    steps.emit("reached")
    await once(steps, "letGo")
  })
  return {
    ...mail,
    hold: () => {
      isHolding = true
      const reached = once(steps, "reached")
      return {
        reached: () => reached,
        letGo: async () => {
          isHolding = false
          steps.emit("letGo")
        },
      }
    },
  }
}

const untilStatus = (id: CampaignId, wanted: string) =>
  eventually(
    () => run(Effect.flatMap(CampaignRepository, (campaigns) => campaigns.find(id))),
    ({ status }) => status === wanted,
  )

/** Each address once, and how many messages were repeated: the same message, after a kill, at most once. */
const readMessages = (messages: Awaited<ReturnType<typeof mailServer>>["messages"]) => {
  const byAddress = new Map<string, ReadonlyArray<string>>()
  for (const { to, text } of messages) {
    const header = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(text)?.[1]?.trim()
    const copy = `${header("Message-ID")} ${header("Subject")}`
    byAddress.set(to[0]!, [...(byAddress.get(to[0]!) ?? []), copy])
  }
  for (const copies of byAddress.values()) {
    expect(copies.length).toBeLessThanOrEqual(2)
    expect(new Set(copies).size).toBe(1)
  }
  const subjects = new Map([...byAddress].map(([address, [copy]]) => [address, copy!.replace(/^\S+ /, "")]))
  return { subjects, repeated: messages.length - byAddress.size }
}

/** The short form proves the last phase of each. */
const short = process.env["PROVE_MAIL"] !== "1"
const phasesOf = <Phase>(phases: ReadonlyArray<Phase>) => (short ? phases.slice(-1) : phases)

/** A worker does not send more at once: twenty connections with two messages each. */
const MAX_REPEATED = 40

describe("a follow-up whose worker is killed", () => {
  // With 620, more than one transaction draws.
  const RECIPIENTS = short ? 120 : 620
  const CLICKED = 20
  const phases = phasesOf<readonly [phase: string, written: Written | undefined]>([
    ["while its first recipients are drawn", { table: "follow_ups", when: "old.last_id is null" }],
    ["while its last recipients are drawn", { table: "follow_ups", when: "new.drawn_at is not null" }],
    [
      "while they are published",
      { table: "recipients", when: "old.published_at is null and new.published_at is not null" },
    ],
    ["while its messages are sent", undefined],
  ])

  it.each(phases)("%s is drawn once, announced once, and sent to each whom it was drawn for", async (_, written) => {
    const to = await partner()
    const mail = await startMailServer()
    const { secret, program, campaign } = await run(seedCampaign({ recipients: RECIPIENTS, endpointUrl: to.url }))
    to.trust(secret)
    // As if it had been sent six days ago, and some had clicked.
    await query(
      (sql) => sql`
        update recipients set published_at = clock_timestamp() - interval '7 days', sent_at = clock_timestamp() - interval '6 days'
        where campaign_id = ${campaign.id}`,
    )
    await query((sql) => sql`update campaigns set status = 'completed' where id = ${campaign.id}`)
    const clicked = await query<{ email: string }>(
      (sql) => sql`
        update recipients set clicked_on = current_date, unsuspected_clicked_on = current_date
        where id in (select id from recipients where campaign_id = ${campaign.id} order by npi limit ${CLICKED})
        returning email`,
    )
    const stopDrawing = written && (await stopWriters(written))
    const followUp = await run(
      Effect.gen(function* () {
        const start = (yield* Clock.currentTimeMillis) + 1_800_000
        const created = yield* createCampaign({
          programId: program.id,
          name: "Reminder",
          kind: "traffic",
          subject: "Your seat is still free",
          html: `<p>https://l.test/{{ token }}</p>${FOOTER}`,
          windowStart: fromUnixMillis(start),
          windowEnd: fromUnixMillis(start + 3_600_000),
          followUp: { followUpOf: campaign.id, unless: "clicked", afterSeconds: 5 * 86_400 },
        })
        return yield* scheduleCampaign(created.id)
      }),
    )
    const openWindow = async () => {
      await query((sql) => sql`update messages set due_at = clock_timestamp() where campaign_id = ${followUp.id}`)
      await query((sql) => sql`update campaigns set window_start = clock_timestamp() where id = ${followUp.id}`)
    }
    const first = await startWorker(url(), { SMTP_URL: mail.url })
    if (stopDrawing === undefined) await untilStatus(followUp.id, "published")
    const stop = stopDrawing ?? mail.hold()
    if (stopDrawing === undefined) await openWindow()
    await stop.reached()
    await kill(first)
    await endLeases()
    await stop.letGo()

    await startWorker(url(), { SMTP_URL: mail.url })
    if (stopDrawing !== undefined) {
      await untilStatus(followUp.id, "published")
      await openWindow()
    }
    await untilStatus(followUp.id, "completed")
    const drawn = await query<{ email: string; token: string; isSent: boolean }>(
      (sql) => sql`
        select email, token, sent_at is not null as "isSent" from recipients where campaign_id = ${followUp.id}`,
    )
    const left = new Set(clicked.map(({ email }) => email))
    expect(drawn).toHaveLength(RECIPIENTS - CLICKED)
    expect(drawn.filter(({ email, isSent }) => left.has(email) || !isSent)).toEqual([])
    const { subjects, repeated } = readMessages(mail.messages)
    expect(repeated).toBeLessThanOrEqual(written === undefined ? MAX_REPEATED : 0)
    expect([...subjects.keys()].sort()).toEqual(drawn.map(({ email }) => email).sort())
    const announced = () => {
      const events = to.received.filter(
        ({ event: { event_type, data } }) =>
          event_type === "outreach.recipients_published" && data["service_campaign_id"] === followUp.id,
      )
      // A webhook may come twice.
      const once = new Map(events.map(({ event }) => [event.event_id, event]))
      return [...once.values()].flatMap(({ data }) =>
        (data["recipients"] as ReadonlyArray<{ token: string }>).map(({ token }) => token),
      )
    }
    const tokens = await until(to, () => announced().length >= drawn.length && announced())
    expect(tokens.sort()).toEqual(drawn.map(({ token }) => token).sort())
  })
})
