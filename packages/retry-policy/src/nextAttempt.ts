import type { Outcome } from "./classify.ts"
import type { Schedule } from "./schedule.ts"

/** What follows an attempt. */
export type NextAttempt =
  | { readonly state: "done" }
  | {
      readonly state: "retry"
      /** Seconds from `now` to the next attempt, for a caller whose own clock, or database, says when that is. */
      readonly delay: number
      /** Unix seconds of the next attempt: `now` plus the delay. */
      readonly at: number
    }
  | {
      readonly state: "dead_letter"
      /** `rejected`: the receiver refused for good; `exhausted`: the schedule has no further attempt. */
      readonly reason: "rejected" | "exhausted"
    }

/**
 * Returns what follows attempt number `attempt`, counted from 1, that ended with `outcome` at `now`, in Unix seconds (fractions allowed).
 *
 * A schedule of n delays allows n + 1 attempts; an attempt beyond them, as after the schedule was shortened, is exhausted too. Throws
 * `RangeError` on an attempt, a time or a delay that is not such a number.
 */
export function nextAttempt(
  schedule: Schedule,
  attempt: number,
  outcome: Pick<Outcome, "verdict">,
  now: number,
): NextAttempt {
  if (!Number.isSafeInteger(attempt) || attempt < 1) throw new RangeError("attempt must be a whole number, 1 or more")
  if (!Number.isFinite(now)) throw new RangeError("now must be Unix seconds as a finite number")
  switch (outcome.verdict) {
    case "delivered":
      return { state: "done" }
    case "permanent":
      return { state: "dead_letter", reason: "rejected" }
    case "transient": {
      const delay = schedule[attempt - 1]
      if (delay === undefined) return { state: "dead_letter", reason: "exhausted" }
      if (!Number.isFinite(delay) || delay < 0) throw new RangeError("a delay must be a number of seconds, 0 or more")
      return { state: "retry", delay, at: now + delay }
    }
  }
}
