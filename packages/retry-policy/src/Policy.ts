import type { Outcome } from "./classify.ts"
import { type Duration, parseDuration } from "./duration.ts"

/** Decides whether another attempt follows. Stateless. */
export interface Policy {
  /** Throws `RangeError` if `attempt`, `elapsed` or `random` is missing or invalid. */
  readonly next: (ended: EndedAttempt) => Next
}

/** An attempt that has ended. */
export interface EndedAttempt {
  /** Attempt number, starting at 1. */
  readonly attempt: number
  readonly outcome: Pick<Outcome, "verdict" | "retryAfter">
  /** Milliseconds since the start of the first attempt. Required for a policy with a deadline. */
  readonly elapsed?: number | undefined
  /** Uniform in [0, 1), such as `Math.random`. Required for a policy with jitter. */
  readonly random?: (() => number) | undefined
}

/** Either another attempt after `delay` milliseconds (fractional with jitter), or none. */
export type Next =
  | { readonly retry: true; readonly delay: number }
  | {
      readonly retry: false
      /** The attempt succeeded or failed permanently, no attempts are left, or the next one would start after the deadline. */
      readonly because: "success" | "permanent" | "exhausted" | "deadline"
    }

/** Options of every policy. */
export interface PolicyOptions {
  /** How much of each delay is random: all of it, its second half, or none. */
  readonly jitter?: "full" | "equal" | "none" | undefined
  /** Time after the start of the first attempt in which another one may start. Default: unlimited. */
  readonly deadline?: Duration | undefined
  /** Maximum wait because of `Retry-After`; longer values are reduced to it. Default 1h. */
  readonly maxRetryAfter?: Duration | undefined
}

const CHANCE = { full: 1, equal: 0.5, none: 0 }

/** Creates a policy from its number of attempts and the delay after each. */
export function createPolicy(
  attempts: number,
  delayAfter: (attempt: number) => number,
  { jitter = "none", deadline, maxRetryAfter = "1h" }: PolicyOptions,
): Policy {
  const chance = CHANCE[jitter]
  if (!(chance >= 0)) throw new RangeError("jitter must be full, equal or none")
  const end = deadline === undefined ? Infinity : parseDuration(deadline, "deadline")
  const most = parseDuration(maxRetryAfter, "maxRetryAfter")
  return {
    next: ({ attempt, outcome: { verdict, retryAfter = 0 }, elapsed = end < Infinity ? NaN : 0, random }) => {
      if (!(Number.isSafeInteger(attempt) && attempt > 0)) throw new RangeError("attempt must be a whole number from 1")
      if (verdict !== "transient") return { retry: false, because: verdict }
      if (attempt >= attempts) return { retry: false, because: "exhausted" }
      if (chance && !random) throw new RangeError("random must be such as Math.random, or jitter none")
      if (Number.isNaN(elapsed)) throw new RangeError("elapsed must be milliseconds, because of the deadline")
      const drawn = chance && random!()
      // Invalid random values keep the full delay.
      const share = drawn >= 0 && drawn < 1 ? 1 - chance + chance * drawn : 1
      // Added to the delay, so that callers with the same `Retry-After` don't return in the same millisecond.
      const delay = delayAfter(attempt) * share + (retryAfter > 0 ? Math.min(retryAfter, most) : 0)
      return Math.max(0, elapsed) + delay > end ? { retry: false, because: "deadline" } : { retry: true, delay }
    },
  }
}
