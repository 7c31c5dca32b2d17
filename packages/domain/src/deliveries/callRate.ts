const SECOND_MS = 1000
const TENTH_MS = SECOND_MS / 10

/**
 * Returns when the next call may start, so that no second has more than `perSecond`, and no tenth of a second more than a tenth of them.
 *
 * This spreads the calls and keeps waits short. `begun` contains the start times of the last second in milliseconds, oldest
 * first. A token bucket would allow a burst above the rate, or lose the unused part after a late timer.
 */
export const rateAllowsAt = (perSecond: number, begun: ReadonlyArray<number>): number => {
  const startOf = (count: number) => begun.at(-count) ?? Number.NEGATIVE_INFINITY
  return Math.max(startOf(perSecond) + SECOND_MS, startOf(Math.ceil(perSecond / 10)) + TENTH_MS)
}

/** Records the start of a call; removes entries older than a second in batches. */
export const recordStart = (begun: Array<number>, now: number): void => {
  begun.push(now)
  if (begun[0]! < now - 2 * SECOND_MS)
    begun.splice(
      0,
      begun.findIndex((at) => at > now - SECOND_MS),
    )
}
