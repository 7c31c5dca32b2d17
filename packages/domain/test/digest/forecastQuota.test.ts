import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { CalendarDate } from "../../src/digest/CalendarDate.ts"
import { addDays, daysBetween } from "../../src/digest/DateRange.ts"
import { FORECAST_DAYS, forecastQuota, type QuotaProgress } from "../../src/digest/forecastQuota.ts"

const TODAY = "2026-11-23" as CalendarDate
const progress = (known: Partial<QuotaProgress>): QuotaProgress => ({
  target: 1000,
  count: 300,
  gains: [100, 100, 100, 100, 100, 100, 100],
  today: TODAY,
  by: null,
  ...known,
})

describe("forecastQuota", () => {
  it("gives the interval of the mean at 80 %", () => {
    // The standard deviation is 25.820, the standard error 9.759.
    const forecast = forecastQuota(progress({ gains: [60, 100, 140, 100, 100, 120, 80] }))
    expect(forecast).toMatchObject({ perDay: 100, on: "2026-11-30", earliest: "2026-11-30", latest: "2026-12-02" })
    expect(forecast).toHaveProperty("margin", expect.closeTo(14.053, 3))
  })

  it("says how many a day it takes, the wanted day itself included", () => {
    const needed = (by: string) => forecastQuota(progress({ by: by as CalendarDate }))
    expect(needed("2026-11-30")).toMatchObject({ neededPerDay: 100 })
    expect(needed("2026-11-24")).toMatchObject({ neededPerDay: 700 })
    expect(needed("2026-11-23")).toMatchObject({ neededPerDay: 700 })
    expect(needed("2026-11-22")).toMatchObject({ neededPerDay: null })
  })

  const gains = fc.array(fc.nat(5000), { maxLength: 40 })
  const anyProgress = fc.record({
    target: fc.option(fc.integer({ min: 1, max: 2_000_000 })),
    count: fc.nat(2_000_000),
    gains,
    today: fc.integer({ min: 0, max: 20_000 }).map((days) => addDays("2000-01-01" as CalendarDate, days)),
    by: fc.option(fc.integer({ min: -400, max: 4000 }).map((days) => addDays(TODAY, days))),
  })

  it("names a date only if there is progress, never one before tomorrow, and the earliest, expected and latest in their order", () => {
    fc.assert(
      fc.property(anyProgress, (known) => {
        const forecast = forecastQuota(known)
        const grows = known.gains.slice(-FORECAST_DAYS).some((gain) => gain > 0)
        const isReached = known.target !== null && known.count >= known.target
        const open = grows ? "Expected" : known.gains.length === 0 ? "TooEarly" : "NoProgress"
        expect(forecast._tag).toBe(known.target === null ? "NoTarget" : isReached ? "Reached" : open)
        if (forecast._tag !== "Expected") return
        expect(forecast.remaining).toBe(known.target! - known.count)
        const { earliest, on, latest } = forecast
        if (on !== null) expect(daysBetween(known.today, on)).toBeGreaterThanOrEqual(1)
        if (earliest !== null && on !== null) expect(earliest <= on).toBe(true)
        if (on !== null && latest !== null) expect(on <= latest).toBe(true)
        if (on === null) expect(latest).toBeNull()
      }),
    )
  })
})
