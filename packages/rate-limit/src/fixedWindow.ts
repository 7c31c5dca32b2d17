import { assertWhole, createPolicy, type Named, type RateLimitPolicy } from "./RateLimitPolicy.ts"

/** Options of `fixedWindow`. */
export interface FixedWindowOptions extends Named {
  /** Maximum per window, a whole number of at least 1. */
  readonly limit: number
  /** Length of a window in whole seconds. Windows start at multiples of it since the Unix epoch. Default 60, the clock minute. */
  readonly windowSeconds?: number | undefined
}

/** Creates a fixed-window policy, aligned to the clock. Throws `RangeError` that names the invalid option. */
export function fixedWindow(options: FixedWindowOptions): RateLimitPolicy {
  const { limit, windowSeconds = 60 } = options
  assertWhole("windowSeconds", windowSeconds, 1)
  return createPolicy("limit", limit, options, 1, 0, windowSeconds * 1000)
}
