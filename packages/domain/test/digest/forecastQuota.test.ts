import { describe, expect, it } from "vitest"
import type { CalendarDate } from "../../src/digest/CalendarDate.ts"
import { forecastQuota, type QuotaProgress } from "../../src/digest/forecastQuota.ts"

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
})
