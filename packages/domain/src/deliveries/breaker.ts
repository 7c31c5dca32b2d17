const FAILURES_TO_PROBE = 5
export const MAX_PROBE_WAIT_SECONDS = 10
/** A recovering endpoint that may have this many calls in flight is treated as any other. */
const RECOVERED_MAX_IN_FLIGHT = 16

/**
 * What an endpoint's recent failures allow.
 *
 * After five failures in a row it is probed: one call at a time, the first a second after the failure, then after 2, 4, 8 and at
 * most 10 s. Once it answers, 2 calls may be in flight, then 4, then 8, then as many as to any other.
 */
export interface Breaker {
  /** Failures in a row. */
  readonly failures: number
  /** How many calls may be in flight; null for no bound of the breaker's. */
  readonly allowance: number | null
  /** When the next call may begin, in milliseconds of the caller's clock. */
  readonly probeAt: number
}

export const CLOSED: Breaker = { failures: 0, allowance: null, probeAt: 0 }

/** Returns the breaker after a call has ended, at `now` of the caller's clock in milliseconds; the same object when nothing changed. */
export const afterCall = (breaker: Breaker, answered: boolean, now: number): Breaker => {
  const { failures, allowance, probeAt } = breaker
  if (answered) {
    if (allowance === null || allowance * 2 >= RECOVERED_MAX_IN_FLIGHT)
      return failures === 0 && allowance === null ? breaker : CLOSED
    return { failures: 0, allowance: allowance * 2, probeAt: now }
  }
  // What fails while a probe is waited for was sent before: it says nothing new.
  if (allowance !== null && probeAt > now) return breaker
  const inARow = failures + 1
  const isProbed = allowance !== null || inARow >= FAILURES_TO_PROBE
  const waitSeconds =
    inARow < FAILURES_TO_PROBE ? 0 : Math.min(MAX_PROBE_WAIT_SECONDS, 2 ** (inARow - FAILURES_TO_PROBE))
  return { failures: inARow, allowance: isProbed ? 1 : null, probeAt: now + waitSeconds * 1000 }
}

export const callsAllowed = ({ allowance, probeAt }: Breaker, now: number): number =>
  allowance === null ? Number.POSITIVE_INFINITY : probeAt > now ? 0 : allowance
