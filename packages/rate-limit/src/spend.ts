import type { RateLimitPolicy } from "./RateLimitPolicy.ts"

/** Stored state of a key. */
export interface RateLimitState {
  /** Used units; one request of cost 1 uses the policy's `unit`. */
  readonly used: number
  /** Time of the state in Unix milliseconds. */
  readonly at: number
}

/** Change of a key's usage. */
export interface Change {
  /** Units to take, or to give back if negative. */
  readonly units: number
  /** Unix milliseconds. Before it, as many units change as possible. From then on, units are only taken, if all fit. 0 for a request. */
  readonly forceUntil: number
}

/** Result of a change, with the state after it. */
export interface Spent extends RateLimitState {
  readonly allowed: boolean
  /** Time of the request in Unix milliseconds; earlier than `at` if this clock is behind. */
  readonly now: number
}

/**
 * Changes the usage of a state, within 0 and the limit. `now` is in whole Unix milliseconds.
 *
 * A clock that is behind by at most one window (another process's clock) uses the latest time seen. A clock that is further behind was set
 * back: the usage is kept, and its time restarts from there.
 */
export function spend(
  { limit, unit, leak, windowMs }: RateLimitPolicy,
  state: RateLimitState | undefined,
  { units, forceUntil }: Change,
  now: number,
): Spent {
  let used = 0
  let at = now
  if (state?.used) {
    if (state.at > now && state.at - now <= windowMs) at = state.at
    if (leak) used = Math.max(0, state.used - Math.min(Math.max(0, at - state.at), windowMs) * leak)
    else if (Math.floor(at / windowMs) <= Math.floor(state.at / windowMs)) used = state.used
  }
  const free = limit * unit - used
  const taken = at < forceUntil ? Math.max(-used, Math.min(units, free)) : Math.max(0, units)
  const allowed = taken <= free
  return { allowed, used: allowed ? used + taken : used, at, now }
}
