import type { RateLimitPolicy } from "./RateLimitPolicy.ts"

/** What is kept of a key. */
export interface RateLimitState {
  /** The units that it has used; of one request the policy's `unit`. */
  readonly used: number
  /** When that was, in Unix milliseconds. */
  readonly at: number
}

/** The outcome of a request for units, and the state after it. */
export interface Spent extends RateLimitState {
  readonly allowed: boolean
  /** The time of the request, in Unix milliseconds; earlier than `at` where a clock lags behind another's. */
  readonly now: number
}

/**
 * Takes units from what a state leaves, if they fit. `now` is in whole Unix milliseconds.
 *
 * A clock that lags by at most a window, as another process's may, counts on at the latest time that was seen. One that lags by more was set
 * back: what is used stays used, and its time counts from then on.
 */
export function spend(
  { limit, unit, leak, windowMs }: RateLimitPolicy,
  state: RateLimitState | undefined,
  units: number,
  now: number,
): Spent {
  let used = 0
  let at = now
  if (state?.used) {
    if (state.at > now && state.at - now <= windowMs) at = state.at
    if (leak) used = Math.max(0, state.used - Math.min(Math.max(0, at - state.at), windowMs) * leak)
    else if (Math.floor(at / windowMs) <= Math.floor(state.at / windowMs)) used = state.used
  }
  const allowed = used + units <= limit * unit
  return { allowed, used: allowed ? used + units : used, at, now }
}
