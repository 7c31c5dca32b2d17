import { assertWhole, createPolicy, type Named, type RateLimitPolicy } from "./RateLimitPolicy.ts"

/** A quota that is whole again at the end of each window. */
export interface FixedWindowOptions extends Named {
  /** What each window admits; a whole number from 1. */
  readonly limit: number
  /** Length of a window in whole seconds; windows start at multiples of it since the Unix epoch. Default 60, the clock minute. */
  readonly windowSeconds?: number | undefined
}

/** Creates the policy of a fixed window, aligned to the clock. Throws `RangeError`, naming the option that is wrong. */
export function fixedWindow(options: FixedWindowOptions): RateLimitPolicy {
  const { limit, windowSeconds = 60 } = options
  assertWhole("windowSeconds", windowSeconds, 1)
  return createPolicy("limit", limit, options, 1, 0, windowSeconds * 1000)
}
