import type { Outcome } from "./classify.ts"
import { type Duration, parseDuration } from "./duration.ts"

/** Decides what follows an attempt. It remembers nothing. */
export interface Policy {
  /** Throws `RangeError` on an `attempt`, an `elapsed` or a `random` that is missing or cannot be right. */
  readonly next: (ended: EndedAttempt) => Next
}

/** An attempt that has ended. */
export interface EndedAttempt {
  /** Its number, from 1. */
  readonly attempt: number
  readonly outcome: Pick<Outcome, "verdict" | "retryAfter">
  /** Milliseconds since the first attempt began. A policy with a deadline needs it. */
  readonly elapsed?: number | undefined
  /** Uniform in [0, 1), such as `Math.random`. A policy with jitter needs it. */
  readonly random?: (() => number) | undefined
}

/** What follows: another attempt after `delay` milliseconds, which jitter makes fractions of, or none. */
export type Next =
  | { readonly retry: true; readonly delay: number }
  | {
      readonly retry: false
      /** It succeeded, or failed for good; there is no further attempt; or the next one would begin after the deadline. */
      readonly because: "success" | "permanent" | "exhausted" | "deadline"
    }

/** The options of every kind of policy. */
export interface PolicyOptions {
  /** How much of each delay is left to chance: all of it, its second half, or nothing. */
  readonly jitter?: "full" | "equal" | "none" | undefined
  /** How long after the begin of the first attempt another may begin. Default: for ever. */
  readonly deadline?: Duration | undefined
  /** The most that is waited because of `Retry-After`; one that is longer is cut to this. Default 1h. */
  readonly maxRetryAfter?: Duration | undefined
}

const CHANCE = { full: 1, equal: 0.5, none: 0 }

/** Creates a policy from its number of attempts, and the delay after each. */
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
      // What is not in [0, 1) leaves the whole delay.
      const share = drawn >= 0 && drawn < 1 ? 1 - chance + chance * drawn : 1
      // Added, so that callers who got the same second do not come back in the same millisecond.
      const delay = delayAfter(attempt) * share + (retryAfter > 0 ? Math.min(retryAfter, most) : 0)
      return Math.max(0, elapsed) + delay > end ? { retry: false, because: "deadline" } : { retry: true, delay }
    },
  }
}
