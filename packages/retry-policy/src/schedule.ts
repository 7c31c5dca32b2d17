/** Delays in seconds, each from one attempt to the next: the first stands before attempt 2. */
export type Schedule = readonly number[]

/** The schedule of webhook deliveries, 7 attempts. Source: Outreach Partner API specification, Events, Delivery rules, 4. */
export const SPECIFIED_SCHEDULE: Schedule = [30, 120, 600, 3_600, 21_600, 86_400]

const MOST_DELAYS = 20
const LONGEST_DELAY = 7 * 86_400
const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["m", 60],
  ["s", 1],
] as const

/**
 * Reads a schedule such as `30s,2m,10m,1h,6h,24h`: 1–20 delays, each a whole number and a unit of s, m, h or d, at most 7 days.
 *
 * Spaces around a delay are allowed, and `0s` is a retry at once. Throws `RangeError`, which names the bad part.
 */
export function parseSchedule(text: string): Schedule {
  const parts = text.split(",", MOST_DELAYS + 1).map((part) => part.trim())
  if (parts.length > MOST_DELAYS) throw new RangeError(`a schedule has at most ${MOST_DELAYS} delays`)
  return parts.map((part, i) => {
    const [, digits, unit] = /^(\d{1,9})([dhms])$/.exec(part) ?? []
    const seconds = Number(digits) * (UNITS.find(([name]) => name === unit)?.[1] ?? Number.NaN)
    const name = `delay ${i + 1}, ${JSON.stringify(part.slice(0, 20))},`
    if (Number.isNaN(seconds)) {
      throw new RangeError(`${name} is not a whole number and a unit of s, m, h or d, such as 30s`)
    }
    if (seconds > LONGEST_DELAY) throw new RangeError(`${name} is longer than 7d`)
    return seconds
  })
}

/** Writes a schedule as text that `parseSchedule` reads back, each delay in the largest unit that divides it. Throws `RangeError` on a schedule that `parseSchedule` could not return. */
export function formatSchedule(schedule: Schedule): string {
  if (schedule.length < 1 || schedule.length > MOST_DELAYS) {
    throw new RangeError(`a schedule has 1 to ${MOST_DELAYS} delays`)
  }
  return schedule
    .map((delay, i) => {
      if (!Number.isInteger(delay) || delay < 0 || delay > LONGEST_DELAY) {
        throw new RangeError(`delay ${i + 1} is not a whole number of seconds from 0 to 7 days`)
      }
      const [unit, seconds] = UNITS.find(([, length]) => delay >= length && delay % length === 0) ?? ["s", 1]
      return `${delay / seconds}${unit}`
    })
    .join(",")
}
