import { STATES, stateTimeZones } from "@outreach/domain/recipients/timeZonesOf"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import fc from "fast-check"
import { describe, expect } from "vitest"

const test = effectTest(runOnDatabase())

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
    const cases = fc.sample(someCase, 400)
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
