import { type Duration, parseDuration } from "./duration.ts"
import { createPolicy, type Policy, type PolicyOptions } from "./Policy.ts"

/** Options of `exponential`. */
export interface ExponentialOptions extends PolicyOptions {
  /** The delay after the first attempt. Default 200ms. */
  readonly first?: Duration | undefined
  /** Ratio of each delay to the one before. Default 2. */
  readonly factor?: number | undefined
  /** Maximum delay. Default 30s. */
  readonly most?: Duration | undefined
  /** Total number of attempts; `Infinity` for no limit. Default 6. */
  readonly attempts?: number | undefined
}

/** Creates a policy with exponentially growing delays. Jitter is `full` by default. Throws `RangeError` that names the option. */
export function exponential({
  first = "200ms",
  factor = 2,
  most = "30s",
  attempts = 6,
  jitter = "full",
  ...options
}: ExponentialOptions = {}): Policy {
  const [start, longest] = [parseDuration(first, "first"), parseDuration(most, "most")]
  if (!(factor >= 1)) throw new RangeError("factor must be a number from 1")
  if (!(attempts >= 1 && Math.floor(attempts) === attempts)) {
    throw new RangeError("attempts must be a whole number from 1, or Infinity")
  }
  // 0 * Infinity is NaN.
  const delayAfter = (attempt: number): number => Math.min(longest, start * factor ** (attempt - 1) || 0)
  return createPolicy(attempts, delayAfter, { jitter, ...options })
}
