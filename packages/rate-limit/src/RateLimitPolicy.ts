/** Limit of requests (or other units) per key and time. Created by `fixedWindow` or `tokenBucket`. */
export interface RateLimitPolicy {
  /** Name of the policy in the `RateLimit` headers. */
  readonly name: string
  /** Maximum that can be taken at once: the limit of a window, or the capacity of a bucket. */
  readonly limit: number
  /** For stores: identifies the policy, so that different policies don't share counts. Ends with `:limit:unit:leak:windowMs`. */
  readonly id: string
  /** For stores: number of units for a cost of 1. */
  readonly unit: number
  /** For stores: units that a bucket regains each millisecond; 0 for a window, which resets at its end. */
  readonly leak: number
  /** Length of a window, or the time to fill an empty bucket, in milliseconds. */
  readonly windowMs: number
}

/** Options of every policy. */
export interface Named {
  /** Name in the `RateLimit` headers: letters, digits, `_`, `.` and `-`. Default `default`. */
  readonly name?: string | undefined
}

/** Creates a policy. Throws `RangeError` that names the invalid option. */
export function createPolicy(
  option: string,
  limit: number,
  { name = "default" }: Named,
  unit: number,
  leak: number,
  windowMs: number,
): RateLimitPolicy {
  assertWhole(option, limit, 1)
  if (!/^[\w.-]+$/.test(name)) throw new RangeError("name must be of letters, digits, and _ . -")
  if (Math.max((limit + 1) * unit + leak, windowMs) > Number.MAX_SAFE_INTEGER)
    throw new RangeError(`${option} is too large for such a time: take rounder numbers`)
  return { name, limit, id: [name, limit, unit, leak, windowMs].join(":"), unit, leak, windowMs }
}

/** Largest integer of a structured field (RFC 9651), such as `q` of `RateLimit-Policy`. */
const MAX_INTEGER = 999_999_999_999_999

/** Throws `RangeError` unless a number is whole and at least `min`. */
export function assertWhole(option: string, value: number, min: number): void {
  if (!(Number.isInteger(value) && value >= min && value <= MAX_INTEGER))
    throw new RangeError(`${option} must be a whole number from ${min} to ${MAX_INTEGER}`)
}
