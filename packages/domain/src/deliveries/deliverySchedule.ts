import { type Schedule, schedule } from "@outreach/retry-policy"
import { textSchema } from "../textSchema.ts"

/** The delays of the specification: 7 attempts over 31.2 hours. Source: Outreach Partner API specification, Events, Delivery rules, 4. */
export const SPECIFIED_DELAYS = "30s,2m,10m,1h,6h,24h"

export const SPECIFIED_SCHEDULE: Schedule = schedule(SPECIFIED_DELAYS)

const MAX_ATTEMPTS = 20
const MAX_DELAY_MS = 7 * 86_400_000

/** Reads the delays between the attempts at a delivery, such as `SPECIFIED_DELAYS`: 1–19, each at most 7 days. Throws `RangeError`, which names the bad one. */
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

/** The seconds between the attempts at an endpoint's deliveries, as text of `formatRetryDelays`; `default` is null. */
export const RetryDelays = textSchema<ReadonlyArray<number> | null>(
  `${DEFAULT}, or 1 to ${MAX_ATTEMPTS - 1} delays from 1s to 7d, such as ${SPECIFIED_DELAYS}`,
  (text) => {
    if (text === DEFAULT) return null
    const seconds = parseDeliverySchedule(text).delays.map((delay) => delay / 1000)
    const broken = seconds.findIndex((delay) => delay < 1 || !Number.isInteger(delay))
    if (broken >= 0) throw new RangeError(`delay ${broken + 1} is not a whole number of seconds from 1`)
    return seconds
  },
)

const UNITS = [
  ["d", 86_400],
  ["h", 3600],
  ["m", 60],
  ["s", 1],
] as const

export const formatRetryDelays = (delays: ReadonlyArray<number> | null): string =>
  delays
    ?.map((seconds) => {
      const [unit, size] = UNITS.find(([, size]) => seconds % size === 0)!
      return `${seconds / size}${unit}`
    })
    .join() ?? DEFAULT

/** Creates the schedule of an endpoint that has one of its own. */
export const scheduleOf = (delays: ReadonlyArray<number>): Schedule => schedule(delays.map((seconds) => seconds * 1000))
