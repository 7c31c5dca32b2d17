/** Returns the median; for an even number of values, the mean of the two middle values. */
export function median(of: readonly number[]): number {
  const sorted = of.toSorted((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2
}
