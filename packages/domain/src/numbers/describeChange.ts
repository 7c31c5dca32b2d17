/** Below it, a percentage would make much of little. */
const MIN_FOR_PERCENTAGE = 20

/** How a count differs from an earlier one. */
export interface Change {
  readonly direction: "up" | "down" | "none"
  /** Such as `+12 %`; of few, the difference itself, such as `+3`. */
  readonly text: string
}

/** Describes how a count differs from an earlier one. */
export const describeChange = (count: number, before: number): Change => {
  const difference = count - before
  if (difference === 0) return { direction: "none", text: "no change" }
  const [direction, sign] = difference > 0 ? (["up", "+"] as const) : (["down", "−"] as const)
  const size = Math.abs(difference)
  if (before < MIN_FOR_PERCENTAGE) return { direction, text: `${sign}${size.toLocaleString("en")}` }
  const percentage = Math.round((100 * size) / before)
  return { direction, text: percentage === 0 ? "under 1 %" : `${sign}${percentage.toLocaleString("en")} %` }
}
