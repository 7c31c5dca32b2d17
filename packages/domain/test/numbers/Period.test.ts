import { hoursOf, periodsAt } from "@outreach/domain/numbers/Period"
import { expect, it } from "vitest"

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

it("divides a day into 24 hours that follow each other, and what is empty into none", () => {
  const { yesterday, today_by_hour } = periodsAt(Date.parse("2026-11-26T00:20:00Z"))
  const hours = hoursOf(yesterday)
  expect(hours).toHaveLength(24)
  expect(hours[0]!.from).toBe(yesterday.from)
  expect(hours.at(-1)!.to).toBe(yesterday.to)
  expect(hours.slice(1).map(({ from }) => from)).toEqual(hours.slice(0, -1).map(({ to }) => to))
  expect(hoursOf(today_by_hour)).toEqual([])
})
