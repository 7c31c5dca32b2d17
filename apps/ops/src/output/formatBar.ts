/** How many cells of a line the longest bar takes. */
const WIDTH = 30

const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"] as const

/** Draws a count as a bar beside the longest of its chart, to an eighth of a cell; what is not zero shows. */
export const formatBar = (count: number, longest: number): string => {
  if (count === 0) return ""
  const eighths = Math.max(1, Math.round((8 * WIDTH * count) / longest))
  return "█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}
