/** The width of the longest bar in terminal cells. */
const WIDTH = 30

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const

/** Draws a count as a bar, relative to the longest bar of its chart. Rounds to an eighth of a cell; any count above 0 is visible. */
export const formatBar = (count: number, longest: number): string => {
  if (count === 0) return ""
  const eighths = Math.max(1, Math.round((8 * WIDTH * count) / longest))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}
