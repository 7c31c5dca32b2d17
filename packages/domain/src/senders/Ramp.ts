import { Schema } from "effect"

/** Longer than any warm-up that providers advise. */
const MAX_DAYS = 90
const MAX_MESSAGES = 10_000_000

/**
 * The most messages that a new sender may send on each of its first days, such as `200,400,800`; after the last one as many as it likes.
 *
 * Its days are those of UTC on which the sender sends.
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

/** Where a sender stands in its ramp today, by UTC. */
export const RampState = Schema.Struct({
  daily: Ramp,
  /** Which day of the ramp it is; one more than its last when it is over. */
  day: Schema.Int,
  /** Messages that workers took to send today; null when the ramp is over. */
  sentToday: Schema.NullOr(Schema.Int),
  /** Null when the ramp is over. */
  allowedToday: Schema.NullOr(Schema.Int),
})
export type RampState = typeof RampState.Type

/** Says where a sender stands in its ramp, as in `day 2 of 3: 120 of 400 sent`; null without one. */
export const describeRamp = (ramp: RampState | null): string | null => {
  if (ramp === null) return null
  const { sentToday, allowedToday } = ramp
  const days = ramp.daily.split(",").length
  if (sentToday === null || allowedToday === null) return `over, after ${days} days`
  const next = sentToday < allowedToday ? "" : ", the next at 00:00 UTC"
  return `day ${ramp.day} of ${days}: ${sentToday} of ${allowedToday} sent${next}`
}
