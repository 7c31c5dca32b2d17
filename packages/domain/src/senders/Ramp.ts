import { Schema } from "effect"

/** Longer than any recommended warm-up. */
const MAX_DAYS = 90
const MAX_MESSAGES = 10_000_000

/**
 * Maximum messages of a new sender on each of its first days, such as `200,400,800`; unlimited afterwards.
 *
 * Only UTC days on which the sender sends count.
 */
export const Ramp = Schema.String.check(
  Schema.makeFilter((text) => {
    if (!/^\d{1,8}(,\d{1,8})*$/.test(text)) return false
    const days = text.split(",").map(Number)
    return days.length <= MAX_DAYS && days.every((most, i) => most >= (days[i - 1] ?? 1) && most <= MAX_MESSAGES)
  }),
).pipe(
  Schema.annotate({
    expected: `a ramp such as 200,400,800: at most ${MAX_DAYS} whole numbers from 1 to ${MAX_MESSAGES}, none of them smaller than the one before`,
  }),
)
export type Ramp = typeof Ramp.Type

/** A sender's position in its ramp today (UTC). */
export const RampState = Schema.Struct({
  daily: Ramp,
  /** Day of the ramp; one more than its last if it is over. */
  day: Schema.Int,
  /** Messages leased today; null if the ramp is over. */
  sentToday: Schema.NullOr(Schema.Int),
  /** Null if the ramp is over. */
  allowedToday: Schema.NullOr(Schema.Int),
})
export type RampState = typeof RampState.Type

/** Describes a sender's ramp, as in `day 2 of 3: 120 of 400 sent`; null without one. */
export const describeRamp = (ramp: RampState | null): string | null => {
  if (ramp === null) return null
  const { sentToday, allowedToday } = ramp
  const days = ramp.daily.split(",").length
  if (sentToday === null || allowedToday === null) return `over, after ${days} days`
  const next = sentToday < allowedToday ? "" : ", the next at 00:00 UTC"
  return `day ${ramp.day} of ${days}: ${sentToday} of ${allowedToday} sent${next}`
}
