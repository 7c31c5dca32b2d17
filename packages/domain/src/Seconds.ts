import { textSchema } from "./textSchema.ts"

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const MAX_SECONDS = 365 * 86_400

/** A duration such as `24h`, in seconds. */
export const Seconds = textSchema("a whole number and a unit of s, m, h or d, such as 24h; at most 365d", (text) => {
  const [, digits, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  const value = Number(digits) * (UNITS[unit] ?? Number.NaN)
  return value <= MAX_SECONDS ? value : undefined
})
