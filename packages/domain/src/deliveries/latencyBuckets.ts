/** Lower bounds of a latency histogram's buckets in milliseconds, after the first, which starts at 0; the last is unbounded. */
export const LATENCY_BOUNDS_MS = [
  2, 5, 10, 20, 35, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10_000,
] as const

export const latencyHistogram = (latencies: ReadonlyArray<number>): ReadonlyArray<number> => {
  const counts = Array<number>(LATENCY_BOUNDS_MS.length + 1).fill(0)
  for (const latency of latencies) {
    const bucket = LATENCY_BOUNDS_MS.findIndex((bound) => latency < bound)
    counts[bucket === -1 ? LATENCY_BOUNDS_MS.length : bucket]!++
  }
  return counts
}

/**
 * Estimates a quantile of a histogram in milliseconds: proportionally within its bucket; for the last bucket, its lower bound.
 * Returns null for no calls.
 */
export const latencyPercentile = (counts: ReadonlyArray<number>, share: number): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  const wanted = share * total
  let below = 0
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && below + count >= wanted) {
      const from = LATENCY_BOUNDS_MS[bucket - 1] ?? 0
      const to = LATENCY_BOUNDS_MS[bucket] ?? from
      return from + ((to - from) * (wanted - below)) / count
    }
    below += count
  }
  return LATENCY_BOUNDS_MS.at(-1)!
}
