import { Option } from "effect"

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const LONGEST = 365 * 86_400

/** Reads a length of time such as `24h` as seconds; to be spread into `filterMap` of a flag. */
export const seconds = [
  (text: string): Option.Option<number> => {
    const [, digits, unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
    const value = Number(digits) * (UNITS[unit] ?? Number.NaN)
    return value <= LONGEST ? Option.some(value) : Option.none()
  },
  () => "a whole number and a unit of s, m, h or d, such as 24h; at most 365d",
] as const
