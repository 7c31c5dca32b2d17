import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { importLines } from "@outreach/domain/campaigns/RecipientImport"
import type { SendingHours } from "@outreach/domain/campaigns/SendingHours"
import type { CampaignId } from "@outreach/domain/Identifier"
import { STATES, stateTimeZones } from "@outreach/domain/recipients/timeZonesOf"
import { effectTest } from "@outreach/testing/effectTest"
import { PROPERTY_RUNS } from "@outreach/testing/propertyRuns"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { email, npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { claimMessages, resetSending, sendCampaign } from "@outreach/testing/sendCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
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
  test("is due to each recipient when the hours open there, and at once to recipients whose place nobody knows", function* () {
    const { campaign, closedZone, hours } = yield* seedCoasts
    yield* sendCampaign(campaign.id)
    const opening = [{ due: `${hours.split("-")[0]}:00`, isNext: true }]
    expect(yield* claimAll).toEqual([...emails(0, 10), ...emails(20, 23)].sort())
    expect(yield* dueIn(campaign.id, closedZone)).toEqual(opening)
  })

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

  test("puts the whole beginning of a queue off at closing time, not the few that a worker may hold", function* () {
    const sql = yield* SqlClient.SqlClient
    const split = yield* splitHours
    const { campaign } = yield* seedCampaign({
      recipients: 60,
      hours: split.hours,
      fieldsOf: (n) => COASTS[n % 10 === 0 ? split.open : split.closed],
    })
    yield* sendCampaign(campaign.id)
    yield* forgetHours(campaign.id)
    const claimed = yield* claimMessages(20, { maxPerCampaign: 20 })
    const due = yield* sql`select from messages where campaign_id = ${campaign.id} and due_at <= clock_timestamp()`
    expect(due).toHaveLength(6)
    expect(claimed.length).toBeGreaterThan(0)
    const opening = [{ due: `${split.hours.split("-")[0]}:00`, isNext: true }]
    expect(yield* dueIn(campaign.id, split.closedZone)).toContainEqual(opening[0])
  })

  test("counts by a rate only what is sent", function* () {
    const { campaign } = yield* seedCoasts
    yield* sendCampaign(campaign.id)
    yield* forgetHours(campaign.id)
    // Eleven messages are saved up. The ten that must wait are looked at first, and leave ten of them to the others.
    expect(yield* claimMessages(64, { perMinute: 600 })).toHaveLength(1)
    expect((yield* claimMessages(64, { perMinute: 600 })).length).toBeGreaterThanOrEqual(10)
  })

  test("ends with its window, even for recipients whose hours have not opened", function* () {
    const sql = yield* SqlClient.SqlClient
    const { campaign } = yield* seedCoasts
    yield* sendCampaign(campaign.id)
    yield* sql`update campaigns set window_end = clock_timestamp() where id = ${campaign.id}`
    const campaigns = yield* CampaignRepository
    yield* campaigns.openAndComplete
    yield* campaigns.openAndComplete
    expect(yield* campaigns.find(campaign.id)).toMatchObject({ status: "completed" })
    expect(yield* sql`select from messages where campaign_id = ${campaign.id}`).toEqual([])
  })
})

interface Case {
  readonly from: number
  readonly to: number
  readonly timeZones: ReadonlyArray<string>
  /** In Unix milliseconds. */
  readonly since: number
}

/** Asks the database when hours open, in Unix milliseconds. */
const openings = Effect.fnUntraced(function* (cases: ReadonlyArray<Case>) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ at: number }>`
    select extract(epoch from next_opening(
      hours_from, hours_to, string_to_array(time_zones, ' '), to_timestamp(since / 1000)))::float8 * 1000 as at
    from unnest(
      ${cases.map(({ from }) => from)}::smallint[], ${cases.map(({ to }) => to)}::smallint[],
      ${cases.map(({ timeZones }) => timeZones.join(" "))}::text[], ${cases.map(({ since }) => since)}::float8[]
    ) with ordinality as given (hours_from, hours_to, time_zones, since, place)
    order by place`
  return rows.map(({ at }) => Math.round(at))
})

const MINUTE = 60_000

const hourOf = new Map<string, Intl.DateTimeFormat>()
const hourIn = (timeZone: string, at: number): number => {
  const format = hourOf.get(timeZone) ?? new Intl.DateTimeFormat("en", { timeZone, hour: "2-digit", hourCycle: "h23" })
  hourOf.set(timeZone, format)
  return Number(format.format(at))
}
const isOpen = ({ from, to, timeZones }: Case, at: number): boolean =>
  timeZones.every((timeZone) => from <= hourIn(timeZone, at) && hourIn(timeZone, at) < to)

const ELSEWHERE = [
  ...["Europe/Berlin", "Asia/Kolkata", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Chatham", "Africa/Cairo"],
  ...["America/Havana", "America/St_Johns", "Asia/Beirut", "Antarctica/Troll", "Pacific/Kiritimati", "UTC"],
].map((timeZone) => [timeZone])

/** The days on which clocks change in the United States, in Europe, and on Lord Howe Island. */
const CHANGES = ["2026-03-08", "2026-11-01", "2027-03-14", "2027-11-07", "2026-03-29", "2026-10-25", "2026-04-04"].map(
  (day) => Date.parse(day),
)

const someCase: fc.Arbitrary<Case> = fc
  .record({
    hours: fc
      .tuple(fc.integer({ min: 0, max: 22 }), fc.integer({ min: 2, max: 24 }))
      .map(([from, length]) => ({ from, to: Math.min(24, from + length) })),
    timeZones: fc.constantFrom(...STATES.map((state) => stateTimeZones(state)!), ...ELSEWHERE),
    since: fc.oneof(
      fc
        .tuple(fc.constantFrom(...CHANGES), fc.integer({ min: -24 * 3_600_000, max: 48 * 3_600_000 }))
        .map(([day, offset]) => day + offset),
      fc.integer({ min: Date.UTC(2026, 0), max: Date.UTC(2027, 11, 24) }),
    ),
  })
  .map(({ hours, ...rest }) => ({ ...hours, ...rest }))

describe("when hours open next", () => {
  test("is within them by the clocks of all time zones, and no minute before is, whenever clocks change", function* () {
    const cases = fc.sample(someCase, 8 * PROPERTY_RUNS)
    for (const [i, at] of (yield* openings(cases)).entries()) {
      const each = cases[i]!
      expect({ each, at, isOpen: at >= each.since && isOpen(each, at) }).toEqual({ each, at, isOpen: true })
      const minutes = [each.since]
      for (let minute = Math.ceil(each.since / MINUTE) * MINUTE; minute < at; minute += MINUTE) minutes.push(minute)
      const earlier = minutes.find((minute) => minute < at && isOpen(each, minute))
      expect({ each, at, earlier }).toEqual({ each, at, earlier: undefined })
    }
  })

  test("is at once where the server does not know the time zone, and never where hours do not overlap", function* () {
    const since = Date.UTC(2026, 6, 1)
    const unknown = { from: 8, to: 10, timeZones: ["America/Gotham"], since }
    const apart = { from: 8, to: 10, timeZones: ["America/New_York", "Asia/Tokyo"], since }
    const [first] = yield* openings([unknown])
    expect(first).toBe(since)
    const sql = yield* SqlClient.SqlClient
    expect(
      yield* sql`
        select next_opening(8::smallint, 10::smallint, ${apart.timeZones}::text[], now()) = 'infinity' as "isNever"`,
    ).toEqual([{ isNever: true }])
  })
})
