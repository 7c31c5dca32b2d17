import { type Schedule, schedule } from "@outreach/retry-policy"
import { textSchema } from "../textSchema.ts"
import type { DeliverySummary } from "./Delivery.ts"

/** Delays of the specification: 7 attempts over 31.2 hours. Source: Outreach Partner API specification, Events, Delivery rules, 4. */
export const SPECIFIED_DELAYS = "30s,2m,10m,1h,6h,24h"

export const SPECIFIED_SCHEDULE: Schedule = schedule(SPECIFIED_DELAYS)

export const MAX_ATTEMPTS = 20
const MAX_DELAY_MS = 7 * 86_400_000

/** Parses delays between attempts, such as `SPECIFIED_DELAYS`: 1–19, each at most 7 days. Throws `RangeError` that names the invalid one. */
export const parseDeliverySchedule = (text: string): Schedule => {
  const parsed = schedule(text)
  if (parsed.delays.length >= MAX_ATTEMPTS) {
    throw new RangeError(`a schedule has at most ${MAX_ATTEMPTS} attempts, so ${MAX_ATTEMPTS - 1} delays`)
  }
  const long = parsed.delays.findIndex((delay) => delay > MAX_DELAY_MS)
  if (long >= 0) throw new RangeError(`delay ${long + 1} is longer than 7d`)
  return parsed
}

const DEFAULT = "default"

/** Parses the entries of `RetryDelays`, in seconds. Throws `RangeError` that names the invalid one. */
export const toRetryDelays = (entries: ReadonlyArray<string>): ReadonlyArray<number> | null => {
  if (entries.join() === DEFAULT) return null
  const seconds = parseDeliverySchedule(entries.join()).delays.map((delay) => delay / 1000)
  const broken = seconds.findIndex((delay) => delay < 1 || !Number.isInteger(delay))
  if (broken >= 0) throw new RangeError(`delay ${broken + 1} is not a whole number of seconds from 1`)
  return seconds
}

/** Delays between the attempts of an endpoint's deliveries, as text of `formatRetryDelays`. The audit log records its entries. */
export const RetryDelays = textSchema<ReadonlyArray<string>>(
  `${DEFAULT}, or 1 to ${MAX_ATTEMPTS - 1} delays from 1s to 7d, such as ${SPECIFIED_DELAYS}`,
  (text) => {
    const entries = text.split(",").map((entry) => entry.trim())
    toRetryDelays(entries)
    return entries
  },
)

const UNITS = [
  ["h", 3600],
  ["m", 60],
] as const

export const formatRetryDelays = (delays: ReadonlyArray<number> | null): string =>
  delays
    ?.map((seconds) => {
      const [unit, size] = UNITS.find(([, size]) => seconds > 0 && seconds % size === 0) ?? ["s", 1]
      return `${seconds / size}${unit}`
    })
    .join() ?? DEFAULT

/** Returns the number of the last attempt of a waiting or sending delivery; null once it has ended. After the schedule was shortened, it has one more. */
export const maxAttemptsOf = (
  { state, attempts }: Pick<DeliverySummary, "state" | "attempts">,
  delays: ReadonlyArray<number>,
): number | null => (state === "pending" || state === "sending" ? Math.max(delays.length, attempts) + 1 : null)

/** Describes an endpoint's attempts, such as `3 attempts: 10s,1m`. Uses the deployment's schedule if it has none. */
export const describeSchedule = (delays: ReadonlyArray<number> | null, deployments: Schedule): string => {
  const own = delays ?? deployments.delays.map((delay) => delay / 1000)
  return `${own.length + 1} attempts: ${formatRetryDelays(own)}${delays === null ? ` (${DEFAULT})` : ""}`
}

/** Creates an endpoint's own schedule. */
export const scheduleOf = (delays: ReadonlyArray<number>): Schedule => schedule(delays.map((seconds) => seconds * 1000))
