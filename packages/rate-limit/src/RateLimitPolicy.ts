/** How many requests, or units of another kind, one key may take in which time. Made by `fixedWindow` or `tokenBucket`. */
export interface RateLimitPolicy {
  /** What the `RateLimit` headers call it. */
  readonly name: string
  /** The most that can be taken together: the limit of a window, or the capacity of a bucket. */
  readonly limit: number
  /** For stores: what tells it from others that count the same key, so that no two share a count; ends with `:limit:unit:leak:windowMs`. */
  readonly id: string
  /** For stores: they count in whole units, of which a cost of 1 takes this many. */
  readonly unit: number
  /** For stores: the units that a bucket gets back each millisecond; 0 for a window, which gets all back at its end. */
  readonly leak: number
  /** The length of a window, or the time in which an empty bucket fills; milliseconds. */
  readonly windowMs: number
}

/** The name of a policy. */
export interface Named {
  /** What the `RateLimit` headers call it: letters, digits, and the characters `_ . -`. Default `default`. */
  readonly name?: string | undefined
}

/** Creates a policy of checked parts. Throws `RangeError`, naming the option that is wrong. */
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

/** The largest integer of a structured field (RFC 9651), such as `q` of `RateLimit-Policy`. */
const MAX_INTEGER = 999_999_999_999_999

/** Throws `RangeError` unless a number is whole and in its range. */
export function assertWhole(option: string, value: number, min: number): void {
  if (!(Number.isInteger(value) && value >= min && value <= MAX_INTEGER))
    throw new RangeError(`${option} must be a whole number from ${min} to ${MAX_INTEGER}`)
}
