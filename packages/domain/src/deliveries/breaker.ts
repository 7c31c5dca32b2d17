const FAILURES_TO_PROBE = 5
export const MAX_PROBE_WAIT_SECONDS = 10
/** From this call limit on, a recovering endpoint is treated as healthy. */
const RECOVERED_MAX_IN_FLIGHT = 16

/**
 * State derived from an endpoint's recent failures.
 *
 * After five failures in a row it is probed: one call at a time, the first a second after the failure, then after 2, 4, 8 and at
 * most 10 s. After a response, 2 calls may be in flight, then 4, then 8, then the normal limit.
 */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number
  /** Call limit of the breaker; null for none. */
  readonly allowance: number | null
  /** Earliest start of the next call, in milliseconds of the caller's clock. */
  readonly probeAt: number
}

export const CLOSED: Breaker = { failures: 0, allowance: null, probeAt: 0 }

/** Returns the breaker after a call ended, at `now` of the caller's clock in milliseconds; the same object if unchanged. */
export const afterCall = (breaker: Breaker, answered: boolean, now: number): Breaker => {
  const { failures, allowance, probeAt } = breaker
  if (answered) {
    if (allowance === null || allowance * 2 >= RECOVERED_MAX_IN_FLIGHT)
      return failures === 0 && allowance === null ? breaker : CLOSED
    return { failures: 0, allowance: allowance * 2, probeAt: now }
  }
  // Failures while waiting for a probe belong to earlier calls.
  if (allowance !== null && probeAt > now) return breaker
  const inARow = failures + 1
  const isProbed = allowance !== null || inARow >= FAILURES_TO_PROBE
  const waitSeconds =
    inARow < FAILURES_TO_PROBE ? 0 : Math.min(MAX_PROBE_WAIT_SECONDS, 2 ** (inARow - FAILURES_TO_PROBE))
  return { failures: inARow, allowance: isProbed ? 1 : null, probeAt: now + waitSeconds * 1000 }
}

export const callsAllowed = ({ allowance, probeAt }: Breaker, now: number): number =>
  allowance === null ? Number.POSITIVE_INFINITY : probeAt > now ? 0 : allowance
