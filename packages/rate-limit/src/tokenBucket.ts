import { createPolicy, type Named, type RateLimitPolicy } from "./RateLimitPolicy.ts"

/** How fast a bucket fills, such as `10 per second` or `100 per 15 minutes`. */
export type Refill = `${number} per ${Unit}` | `${number} per ${number} ${Unit}s`
type Unit = "second" | "minute" | "hour" | "day"

/** A bucket of tokens: a burst of `capacity`, and then as many as come in. */
export interface TokenBucketOptions extends Named {
  /** The most tokens that it holds; a whole number from 1. */
  readonly capacity: number
  /** How many tokens come in, evenly over the time: `10 per second`, `100 per 15 minutes`. */
  readonly refill: Refill
}

const MILLISECONDS = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Creates the policy of a token bucket, which is full at first. Throws `RangeError`, naming the option that is wrong. */
export function tokenBucket(options: TokenBucketOptions): RateLimitPolicy {
  const { capacity, refill } = options
  const [, count, times, unitOfTime] = /^(\d+) per (?:(\d+) )?(second|minute|hour|day)s?$/.exec(refill) ?? []
  const tokens = Number(count)
  const time = Number(times ?? 1) * MILLISECONDS[unitOfTime as Unit]
  if (!(tokens > 0 && time > 0)) throw new RangeError('refill must be such as "10 per second" or "100 per 15 minutes"')
  // A token of `unit` units, and `leak` units a millisecond, keep all arithmetic in whole numbers.
  const divisor = greatestCommonDivisor(tokens, time)
  const unit = time / divisor
  const leak = tokens / divisor
  return createPolicy("capacity", capacity, options, unit, leak, Math.ceil((capacity * unit) / leak))
}

function greatestCommonDivisor(a: number, b: number): number {
  return b > 0 ? greatestCommonDivisor(b, a % b) : a
}
