import { hoursOf, PERIODS, periodsAt } from "@outreach/domain/numbers/Period"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import fc from "fast-check"
import { expect, it } from "vitest"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

it("compares the last whole hour of a Thursday with the same of Wednesday and of the Thursday before", () => {
  const at = (text: string) => `${text}:00.000000Z`
  expect(periodsAt(Date.parse("2026-11-26T10:44:29.123Z"))).toEqual({
    today: { from: at("2026-11-26T00:00"), to: at("2026-11-27T00:00") },
    today_by_hour: { from: at("2026-11-26T00:00"), to: at("2026-11-26T10:00") },
    yesterday_by_hour: { from: at("2026-11-25T00:00"), to: at("2026-11-25T10:00") },
    yesterday: { from: at("2026-11-25T00:00"), to: at("2026-11-26T00:00") },
    this_week: { from: at("2026-11-23T00:00"), to: at("2026-11-30T00:00") },
    this_week_by_hour: { from: at("2026-11-23T00:00"), to: at("2026-11-26T10:00") },
    last_week_by_hour: { from: at("2026-11-16T00:00"), to: at("2026-11-19T10:00") },
    last_week: { from: at("2026-11-16T00:00"), to: at("2026-11-23T00:00") },
  })
})

const instant = fc.integer({ min: Date.parse("2020-01-01"), max: Date.parse("2100-01-01") })
const lengthOf = ({ from, to }: { from: string; to: string }) => Date.parse(to) - Date.parse(from)

it("begins a day at midnight and a week on Monday, and compares periods of one length, at any instant", () => {
  fc.assert(
    fc.property(instant, (millis) => {
      const periods = periodsAt(millis)
      expect(Object.keys(periods)).toEqual(Object.keys(PERIODS))
      expect(lengthOf(periods.today_by_hour)).toBe(lengthOf(periods.yesterday_by_hour))
      expect(lengthOf(periods.this_week_by_hour)).toBe(lengthOf(periods.last_week_by_hour))
      expect(lengthOf(periods.last_week)).toBe(7 * DAY_MS)
      expect(new Date(periods.this_week.from).getUTCDay()).toBe(1)
      const sinceWholeHour = millis - toUnixMillis(periods.today_by_hour.to)
      expect(sinceWholeHour >= 0 && sinceWholeHour < HOUR_MS).toBe(true)
      expect(millis >= toUnixMillis(periods.today.from) && millis < toUnixMillis(periods.today.to)).toBe(true)
      expect(millis >= toUnixMillis(periods.this_week.from) && millis < toUnixMillis(periods.this_week.to)).toBe(true)
    }),
  )
})

it("divides a day into 24 hours that follow each other, and what is empty into none", () => {
  const { yesterday, today_by_hour } = periodsAt(Date.parse("2026-11-26T00:20:00Z"))
  const hours = hoursOf(yesterday)
  expect(hours).toHaveLength(24)
  expect(hours[0]!.from).toBe(yesterday.from)
  expect(hours.at(-1)!.to).toBe(yesterday.to)
  expect(hours.slice(1).map(({ from }) => from)).toEqual(hours.slice(0, -1).map(({ to }) => to))
  expect(hoursOf(today_by_hour)).toEqual([])
})
