import { createPolicy, type Named, type RateLimitPolicy } from "./RateLimitPolicy.ts"

/** Refill rate of a bucket, such as `10 per second` or `100 per 15 minutes`. */
export type Refill = `${number} per ${Unit}` | `${number} per ${number} ${Unit}s`
type Unit = "second" | "minute" | "hour" | "day"

/** Options of `tokenBucket`: a burst of `capacity`, then the refill rate. */
export interface TokenBucketOptions extends Named {
  /** Maximum number of tokens, at least 1. */
  readonly capacity: number
  /** Tokens added per time, evenly distributed: `10 per second`, `100 per 15 minutes`. */
  readonly refill: Refill
}

const MILLISECONDS = { second: 1000, minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Creates a token-bucket policy. Buckets start full. Throws `RangeError` that names the invalid option. */
export function tokenBucket(options: TokenBucketOptions): RateLimitPolicy {
  const { capacity, refill } = options
  const [, count, times, unitOfTime] = /^(\d+) per (?:(\d+) )?(second|minute|hour|day)s?$/.exec(refill) ?? []
  const tokens = Number(count)
  const time = Number(times ?? 1) * MILLISECONDS[unitOfTime as Unit]
  if (!(tokens > 0 && time > 0)) throw new RangeError('refill must be such as "10 per second" or "100 per 15 minutes"')
  // Scaling by `unit` units per token and `leak` units per millisecond keeps all arithmetic in whole numbers.
  const divisor = greatestCommonDivisor(tokens, time)
  const unit = time / divisor
  const leak = tokens / divisor
  return createPolicy("capacity", capacity, options, unit, leak, Math.ceil((capacity * unit) / leak))
}

function greatestCommonDivisor(a: number, b: number): number {
  return b > 0 ? greatestCommonDivisor(b, a % b) : a
}
