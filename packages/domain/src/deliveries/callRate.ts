const SECOND_MS = 1000
const TENTH_MS = SECOND_MS / 10

/**
 * Returns when the next call may begin, so that no second has more than `perSecond`, and no tenth of a second more than a tenth of them.
 *
 * So calls are spread, and what comes next waits little. `begun` has the starts of all calls of the last second, in milliseconds, oldest
 * first. A token bucket would do neither: it allows a burst beside the rate, or loses what a late timer left unused.
 */
export const rateAllowsAt = (perSecond: number, begun: ReadonlyArray<number>): number => {
  const startOf = (count: number) => begun.at(-count) ?? Number.NEGATIVE_INFINITY
  return Math.max(startOf(perSecond) + SECOND_MS, startOf(Math.ceil(perSecond / 10)) + TENTH_MS)
}

/** Notes that a call begins; what is older than a second is forgotten, many at a time. */
export const noteBegun = (begun: Array<number>, now: number): void => {
  begun.push(now)
  if (begun[0]! < now - 2 * SECOND_MS)
    begun.splice(
      0,
      begun.findIndex((at) => at > now - SECOND_MS),
    )
}
