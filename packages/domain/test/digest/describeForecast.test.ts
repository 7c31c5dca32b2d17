import { describe, expect, it } from "vitest"
import type { CalendarDate } from "../../src/digest/CalendarDate.ts"
import { describeForecast } from "../../src/digest/describeForecast.ts"
import { forecastQuota, type QuotaProgress } from "../../src/digest/forecastQuota.ts"

const described = (known: Partial<QuotaProgress>) =>
  describeForecast(
    forecastQuota({ target: 2000, count: 800, gains: [], today: "2026-11-23" as CalendarDate, by: null, ...known }),
  )

describe("describeForecast", () => {
  it("says the pace, the date with its interval, and what it takes", () => {
    expect(described({ gains: [60, 100, 140, 100, 100, 120, 80], by: "2026-12-01" as CalendarDate })).toBe(
      "1,200 are left, at 100 a day (85.9 to 114.1). The target is expected on 2026-12-05, between 2026-12-04 and 2026-12-07. To reach it in time takes 150 a day.",
    )
  })

  it("names no date without progress, and no latest one when the pace may come to nothing", () => {
    expect(described({ gains: [0, 0] })).toBe(
      "1,200 are left. The last complete days brought none, so there is no date.",
    )
    expect(described({ gains: [] })).toBe("1,200 are left. No day is complete yet, so there is no date.")
    expect(described({ gains: [0, 0, 0, 0, 0, 0, 70] })).toContain("and perhaps never at this pace.")
    expect(described({ gains: [1], target: 1_000_000 })).toContain("in more than five years.")
    expect(described({ gains: [100] })).toContain("at 100 a day. The target is expected on 2026-12-05.")
  })
})
