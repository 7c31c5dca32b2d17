import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { SendingHours } from "@outreach/domain/campaigns/SendingHours"
import type { CampaignId } from "@outreach/domain/Identifier"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect } from "vitest"

const run = runOnDatabase()
const test = effectTest(run)

beforeEach(() => run(resetSending))

const COASTS = { east: { time_zone: "America/New_York" }, west: { state: "California" } } as const
type Coast = keyof typeof COASTS

/** Finds hours that are open on one coast and closed on the other, now and in an hour, by the database's clock. */
const splitHours = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ hours: SendingHours; open: Coast; closed: Coast; closedZone: string }>`
    with coast (name, zone) as (values ('east', 'America/New_York'), ('west', 'America/Los_Angeles')),
    hour as (
      select name, zone, extract(hour from clock_timestamp() at time zone zone) as present,
        extract(hour from (clock_timestamp() + interval '1 hour') at time zone zone) as next
      from coast
    )
    select first || '-' || last as hours, o.name as open, c.name as closed, c.zone as "closedZone"
    from generate_series(0, 22) as first cross join generate_series(2, 24) as last
    join hour o on o.present >= first and o.present < last and o.next >= first and o.next < last
    join hour c on not (c.present >= first and c.present < last) and not (c.next >= first and c.next < last)
    where first + 2 <= last limit 1`
  return found!
})

/** Seeds a campaign that is sending: recipients 0 to 9 are where it is open, 10 to 19 where it is closed, and of 20 to 22 nobody knows where. */
const seedCoasts = Effect.gen(function* () {
  const split = yield* splitHours
  const seeded = yield* seedCampaign({ recipients: 0, hours: split.hours })
  const lines = Array.from({ length: 23 }, (_, i) => ({
    ...{ number: i + 2, npi: npi(i), email: email(i) },
    ...(i < 20 && { fields: COASTS[i < 10 ? split.open : split.closed] }),
  }))
  expect(yield* importLines(seeded.campaign.id, lines)).toMatchObject({ imported: 23, withoutPlace: 3 })
  return { ...seeded, ...split }
})
const emails = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => email(from + i)).sort()

/** The local times, in a time zone, at which the messages that are not leased are due. */
const dueIn = Effect.fnUntraced(function* (campaignId: CampaignId, zone: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ due: string; isNext: boolean }>`
    select distinct to_char(due_at at time zone ${zone}, 'FMHH24:MI') as due,
      due_at > clock_timestamp() and due_at < clock_timestamp() + interval '25 hours' as "isNext"
    from messages where campaign_id = ${campaignId} and lease_token is null`
  return rows
})
/** Makes messages due that wait for their hours, before all others: as after a pause. */
const forgetHours = (campaignId: CampaignId) =>
  SqlClient.SqlClient.use(
    (sql) =>
      sql`update messages set due_at = '-infinity' where campaign_id = ${campaignId} and due_at > clock_timestamp()`,
  )
/** Claims as four workers at once, twice; returns the addresses of the leases. */
const claimAll = Effect.gen(function* () {
  const claim = () => claimMessages(10, { perMinute: 100_000 })
  const claims = yield* Effect.all(Array.from({ length: 8 }, claim), { concurrency: 4 })
  return claims.flatMap((leases) => leases.map((lease) => lease.email)).sort()
})

describe("a campaign with hours", () => {
  test("puts off what is due outside of them, however many workers claim", function* () {
    const sql = yield* SqlClient.SqlClient
    const { campaign, closedZone, hours } = yield* seedCoasts
    yield* sendCampaign(campaign.id)
    yield* forgetHours(campaign.id)
    expect(yield* claimAll).toEqual([...emails(0, 10), ...emails(20, 23)].sort())
    const opening = [{ due: `${hours.split("-")[0]}:00`, isNext: true }]
    expect(yield* dueIn(campaign.id, closedZone)).toEqual(opening)

    // Their time has come, or they were imported again with a place where it is open.
    yield* sql`
      update recipient_fields set time_zones = null
      where recipient_id in (select recipient_id from messages where campaign_id = ${campaign.id})`
    yield* sql`update messages set due_at = clock_timestamp() where campaign_id = ${campaign.id} and lease_token is null`
    expect(yield* claimAll).toEqual(emails(10, 20))
  })
})
