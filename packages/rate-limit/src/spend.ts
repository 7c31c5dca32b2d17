import type { RateLimitPolicy } from "./RateLimitPolicy.ts"

/** Stored state of a key. */
export interface RateLimitState {
  /** Used units; one request of cost 1 uses the policy's `unit`. */
  readonly used: number
  /** Time of the state in Unix milliseconds. */
  readonly at: number
}

/** Result of a request for units, with the state after it. */
export interface Spent extends RateLimitState {
  readonly allowed: boolean
  /** Time of the request in Unix milliseconds; earlier than `at` if this clock is behind. */
  readonly now: number
}

/**
 * Takes units from a state's remainder if they fit. `now` is in whole Unix milliseconds.
 *
 * A clock that is behind by at most one window (another process's clock) uses the latest time seen. A clock that is further behind was set
 * back: the usage is kept, and its time restarts from there.
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
