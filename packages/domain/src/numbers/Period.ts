import { fromUnixMillis, type Timestamp, toUnixMillis } from "../Timestamp.ts"

/**
 * The periods that numbers are shown of, each with its name. A day begins at midnight in UTC, and a week on Monday.
 *
 * Those by the hour end with the last whole hour, and those they are compared with at the same hour of the day or the week before.
 */
export const PERIODS = {
  today: "Today so far",
  today_by_hour: "Today by the last whole hour",
  yesterday_by_hour: "Yesterday by the same hour",
  yesterday: "Yesterday",
  this_week: "This week so far",
  this_week_by_hour: "This week by the last whole hour",
  last_week_by_hour: "Last week by the same weekday and hour",
  last_week: "Last week",
} as const
export type PeriodName = keyof typeof PERIODS

/** From an instant, and before another one. */
export interface Period {
  readonly from: Timestamp
  readonly to: Timestamp
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const WEEK_MS = 7 * DAY_MS
/** The first Monday after the epoch, which was a Thursday. */
const FIRST_MONDAY = 4 * DAY_MS

const periodOf = (from: number, to: number): Period => ({ from: fromUnixMillis(from), to: fromUnixMillis(to) })

/** Returns when each period begins and ends, at an instant. */
export const periodsAt = (millis: number): Readonly<Record<PeriodName, Period>> => {
  const hour = millis - (millis % HOUR_MS)
  const midnight = hour - (hour % DAY_MS)
  const monday = midnight - ((midnight - FIRST_MONDAY) % WEEK_MS)
  return {
    today: periodOf(midnight, midnight + DAY_MS),
    today_by_hour: periodOf(midnight, hour),
    yesterday_by_hour: periodOf(midnight - DAY_MS, hour - DAY_MS),
    yesterday: periodOf(midnight - DAY_MS, midnight),
    this_week: periodOf(monday, monday + WEEK_MS),
    this_week_by_hour: periodOf(monday, hour),
    last_week_by_hour: periodOf(monday - WEEK_MS, hour - WEEK_MS),
    last_week: periodOf(monday - WEEK_MS, monday),
  }
}

/** Divides periods into their hours, one after the other. */
export const hoursOf = ({ from, to }: Period): ReadonlyArray<Period> => {
  const first = toUnixMillis(from)
  const length = Math.max(0, (toUnixMillis(to) - first) / HOUR_MS)
  return Array.from({ length }, (_, n) => periodOf(first + n * HOUR_MS, first + (n + 1) * HOUR_MS))
}
