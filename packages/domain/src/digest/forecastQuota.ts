import type { CalendarDate } from "./CalendarDate.ts"
import { addDays, daysBetween } from "./DateRange.ts"

// The forecast supposes that the coming days are like the last complete ones: seven, so that each weekday counts once. It is the time at
// which the mean of the gains a day comes to the target. Its interval is that of the mean, by Student's t distribution, at 80 %.

/** How many complete days a forecast looks back on, at most. */
export const FORECAST_DAYS = 7

/** The quantiles at 90 % of Student's t distribution, for 1 to 6 degrees of freedom: 80 % lie between minus and plus this. */
const T_QUANTILES = [3.078, 1.886, 1.638, 1.533, 1.476, 1.44] as const

/** How far ahead a date is named, in days: five years. */
const HORIZON_DAYS = 1826

/** What a stage of a program has come to. */
export interface QuotaProgress {
  readonly target: number | null
  readonly count: number
  /** How many were added on each of the last complete days, oldest first; fewer than `FORECAST_DAYS` for a program that is younger. */
  readonly gains: ReadonlyArray<number>
  readonly today: CalendarDate
  /** The date by whose end the target is wanted. */
  readonly by: CalendarDate | null
}

/** When a target is reached, by what is known today. */
export type QuotaForecast =
  | { readonly _tag: "NoTarget" }
  | { readonly _tag: "Reached" }
  /** No day is complete yet. */
  | ({ readonly _tag: "TooEarly" } & WhatIsLeft)
  | ({ readonly _tag: "NoProgress" } & WhatIsLeft)
  | ({
      readonly _tag: "Expected"
      readonly perDay: number
      /** The interval of the mean is `perDay` plus and minus this; null for a single day. */
      readonly margin: number | null
      /** Null if it lies more than five years ahead. */
      readonly on: CalendarDate | null
      /** The interval of `on`; null is unknown for a single day, and later than any date that is named. */
      readonly earliest: CalendarDate | null
      readonly latest: CalendarDate | null
    } & WhatIsLeft)

interface WhatIsLeft {
  readonly remaining: number
  /** How many a day reach the target by the end of `by`, from the day after today on; null without such a date, and when it is over. */
  readonly neededPerDay: number | null
}

export const forecastQuota = ({ target, count, gains, today, by }: QuotaProgress): QuotaForecast => {
  if (target === null) return { _tag: "NoTarget" }
  if (count >= target) return { _tag: "Reached" }
  const remaining = target - count
  const left: WhatIsLeft = {
    remaining,
    neededPerDay: by === null || by < today ? null : Math.ceil(remaining / Math.max(1, daysBetween(today, by))),
  }
  const latest = gains.slice(-FORECAST_DAYS)
  if (latest.length === 0) return { _tag: "TooEarly", ...left }
  const perDay = mean(latest)
  if (perDay === 0) return { _tag: "NoProgress", ...left }
  const margin = marginOf(latest, perDay)
  const dateAtRate = (rate: number): CalendarDate | null => {
    const days = rate > 0 ? Math.ceil(remaining / rate) : Number.POSITIVE_INFINITY
    return days > HORIZON_DAYS ? null : addDays(today, days)
  }
  return {
    _tag: "Expected",
    ...left,
    perDay,
    margin,
    on: dateAtRate(perDay),
    earliest: margin === null ? null : dateAtRate(perDay + margin),
    latest: margin === null ? null : dateAtRate(perDay - margin),
  }
}

/** How many are expected by the end of a day to come; `low` and `high` are the interval. */
export interface ForecastDay {
  readonly date: CalendarDate
  readonly expected: number
  readonly low: number
  readonly high: number
}

/** The fewest and the most days that a projection has. */
const PROJECTED_DAYS = { min: 7, max: 60 } as const

/** Projects a count day by day until its target is reached, or for two months. There is none without progress or with the target reached. */
export const projectDays = (
  { count, target, today }: QuotaProgress,
  forecast: QuotaForecast,
): ReadonlyArray<ForecastDay> => {
  if (forecast._tag !== "Expected" || target === null) return []
  const { perDay, margin, on, latest } = forecast
  const end = margin === null ? on : latest
  const days = end === null ? PROJECTED_DAYS.max : daysBetween(today, end)
  const at = (rate: number, day: number) => Math.min(target, count + Math.max(0, rate) * day)
  return Array.from({ length: Math.min(PROJECTED_DAYS.max, Math.max(PROJECTED_DAYS.min, days)) }, (_, n) => ({
    date: addDays(today, n + 1),
    expected: at(perDay, n + 1),
    low: at(perDay - (margin ?? 0), n + 1),
    high: at(perDay + (margin ?? 0), n + 1),
  }))
}

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length

/** Half of the interval of a mean: the standard error times the quantile. */
const marginOf = (values: ReadonlyArray<number>, average: number): number | null => {
  const quantile = T_QUANTILES[values.length - 2]
  if (quantile === undefined) return null
  const variance = values.reduce((sum, value) => sum + (value - average) ** 2, 0) / (values.length - 1)
  return quantile * Math.sqrt(variance / values.length)
}
