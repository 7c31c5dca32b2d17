import { describe, expect } from "@effect/vitest"
import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import type { EventId, OrganizationId } from "@outreach/domain/Identifier"
import { recountDigest } from "@outreach/postgres/digest/recountDigest"
import { eventually } from "@outreach/testing/eventually"
import { KEY_RECIPIENTS } from "@outreach/testing/keyRecipients"
import { mailServer } from "@outreach/testing/mailServer"
import { partner } from "@outreach/testing/partner"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, it } from "vitest"
import { journey } from "../journey.ts"
import { runWorker } from "../runWorker.ts"

const { url, run, launch, query } = journey()
const MESSAGE = "recipients past their retention erased"

beforeEach(() => query((sql) => sql.unsafe("truncate recipients cascade")))

/** Moves the end of a campaign into the past. */
const age = (campaignId: string, status: string, months: number, windowMonths = months) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`
      update campaigns set status = ${status}, updated_at = clock_timestamp() - make_interval(months => ${months}::int),
        window_start = clock_timestamp() - make_interval(months => ${windowMonths}::int, days => 2),
        window_end = clock_timestamp() - make_interval(months => ${windowMonths}::int, days => 1)
      where id = ${campaignId}`
  })

const linesOf = ({ text }: { readonly text: string }) =>
  text
    .split("\n")
    .filter((line) => line.includes(MESSAGE))
    .map((line) => JSON.parse(line).annotations)

const unerased = () =>
  query<{ campaignId: string; count: number }>(
    (sql) => sql`
      select campaign_id as "campaignId", count(*)::int as count from recipients where erased_at is null
      group by campaign_id order by campaign_id`,
  )

describe("recipients past their retention", () => {
  it("are erased from their records and events, while digests, suppressions and the partner's view stay whole", async () => {
    const to = await partner()
    const mail = await mailServer()
    const { organization, campaign, program } = await launch(to, 3)
    const worker = await runWorker(url(), { SMTP_URL: mail.url })
    await eventually(
      () => query<{ status: string }>((sql) => sql`select status from campaigns where id = ${campaign.id}`),
      ([row]) => row!.status === "completed",
    )
    await worker.stop()
    const [before] = await query<Held>((sql) => held(sql, organization.id))
    expect(before!.texts).toContain(email(0))
    await query(
      (sql) => sql`
        insert into suppressions (organization_id, program_id, kind, value, reason)
        values (${organization.id}, ${program.id}, 'npi', ${npi(0)}, 'unsubscribed')`,
    )
    await run(age(campaign.id, "completed", 13))

    const second = await runWorker(url(), { RECIPIENTS_MONTHS: "12" })
    await eventually(
      () => linesOf(second),
      ({ length }) => length === 1,
    )
    expect(linesOf(second)[0]).toMatchObject({
      organizationId: organization.id,
      campaignId: campaign.id,
      months: 12,
      recipients: 3,
    })
    const [after] = await query<Held>((sql) => held(sql, organization.id))
    for (let n = 0; n < 3; n++) for (const gone of [npi(n), email(n)]) expect(after!.texts).not.toContain(gone)
    for (const token of before!.tokens) expect(after!.texts).not.toContain(token)
    expect(after).toMatchObject({ events: before!.events, suppressions: npi(0), hashes: 0 })
    // A partner that reconciles reads the three records again.
    expect(after!.updated > before!.updated).toBe(true)
    const date = CalendarDate.make(before!.updated.slice(0, 10))
    const transaction = Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(recountDigest(date)))
    expect(await run(transaction)).toEqual([])
  })

  it("are those of campaigns that were closed long enough ago, or can no longer be sent; all others stay", async () => {
    const seed = (status: string, months: number, windowMonths?: number) =>
      run(
        Effect.gen(function* () {
          const { campaign } = yield* seedCampaign({ recipients: 1 })
          yield* age(campaign.id, status, months, windowMonths)
          return campaign.id
        }),
      )
    const due = [
      await seed("completed", 13),
      await seed("cancelled", 12),
      await seed("draft", 13),
      await seed("paused", 13),
    ]
    const kept = [
      await seed("completed", 11, 13),
      await seed("cancelled", 11, 13),
      await seed("draft", 11, 13),
      await seed("paused", 13, 11),
    ]
    const worker = await runWorker(url(), { RECIPIENTS_MONTHS: "12" })
    await eventually(
      () => linesOf(worker),
      ({ length }) => length === due.length,
    )
    expect(
      linesOf(worker)
        .map(({ campaignId }) => campaignId)
        .sort(),
    ).toEqual(due.sort())
    expect((await unerased()).map(({ campaignId }) => campaignId)).toEqual(kept.sort())
  })

  it("are each erased once by several workers, also behind thousands that are erased", async () => {
    const campaigns = await run(
      Effect.forEach([1, 2], () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const { organization, program, campaign } = yield* seedCampaign({ recipients: 0 })
          // Those who are erased changed first, as after an operator's erasures, and fill the first page.
          yield* sql`
            insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at, erased_at)
            select ${organization.id}, 'rcp_' || lpad(n::text, 32, '0'), ${campaign.id}, ${program.id}, lpad(n::text, 6, 'a'),
              case when n > 5001 then '10' else '09' end || lpad(n::text, 8, '0'), n || '@clinic.test', at, at,
              case when n <= 5001 then at end
            from generate_series(1, 5601) n, lateral (select clock_timestamp() - make_interval(months => 14, mins => -n) as at) time`
          yield* sql.unsafe(KEY_RECIPIENTS)
          yield* age(campaign.id, "completed", 13)
          return campaign.id
        }),
      ),
    )
    const settings = { RECIPIENTS_MONTHS: "12" }
    const workers = await Promise.all([runWorker(url(), settings), runWorker(url(), settings)])
    // Each worker logs how many it erased itself.
    const erasedOf = (id: string) =>
      workers
        .flatMap(linesOf)
        .reduce((sum, { campaignId, recipients }) => (campaignId === id ? sum + recipients : sum), 0)
    await eventually(
      () => campaigns.map(erasedOf),
      (counts) => counts.every((count) => count >= 600),
    )
    expect({ counts: campaigns.map(erasedOf), left: await unerased() }).toEqual({ counts: [600, 600], left: [] })
    expect(workers.map(({ text }) => text).join()).not.toContain("erasure of recipients of")
  })
})

interface Held {
  readonly texts: string
  readonly tokens: ReadonlyArray<string>
  readonly events: ReadonlyArray<EventId>
  readonly suppressions: string | null
  readonly hashes: number
  readonly updated: string
}

const held = (sql: SqlClient.SqlClient, organizationId: OrganizationId) => sql<Held>`
  select (select string_agg(npi || email || token, ' ') from recipients where organization_id = ${organizationId})
      || (select string_agg(body, ' ') from events where organization_id = ${organizationId}) as texts,
    array(select token from recipients where organization_id = ${organizationId}) as tokens,
    array(select id from events where organization_id = ${organizationId} order by id) as events,
    (select string_agg(value, ' ') from suppressions where organization_id = ${organizationId}) as suppressions,
    (select count(*)::int from erased_clinicians where organization_id = ${organizationId}) as hashes,
    (select min(updated_at) from recipients where organization_id = ${organizationId}) as updated`
