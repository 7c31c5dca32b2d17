import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { ActiveAlert } from "@outreach/domain/operators/alerts"

/** Returns the name of an item of a list, or its id if the list lacks it. */
export const nameIn = (list: ReadonlyArray<{ readonly id: string; readonly name: string }>, id: string): string =>
  list.find((each) => each.id === id)?.name ?? id

export const formatCount = (count: number): string => count.toLocaleString("en")

/** Formats a count for the axis of a chart, such as `800` or `1.2K`. */
export const formatCompact = (count: number): string =>
  count.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 })

/** Formats a count with a cap, which means this many or more. */
export const formatCapped = (count: number, cap = COUNT_CAP): string =>
  count >= cap ? `${formatCount(cap)} or more` : formatCount(count)

/** Formats a count with its noun: `1 event`, `2 events`. */
export const formatCounted = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${formatCount(count)} ${count === 1 ? noun : nouns}`

/** Formats a count for a form that accepts a number or `none`. */
export const countOrNone = (count: number | null): string => (count === null ? "none" : String(count))

/** Formats a share from 0 to 1 as a percentage with at most one decimal; a dash if unknown. */
export const formatShare = (share: number | null, digits = 1): string =>
  share === null || !Number.isFinite(share)
    ? "–"
    : `${(share * 100).toLocaleString("en", { maximumFractionDigits: digits })} %`

const UNITS = [
  ["day", "d", 86_400],
  ["hour", "h", 3_600],
  ["minute", "min", 60],
  ["second", "s", 1],
] as const

/** Formats a duration in its two largest units, such as `2 hours 5 minutes`. */
export const formatDuration = (seconds: number): string => {
  let rest = Math.max(0, Math.round(seconds))
  const parts = UNITS.flatMap(([unit, , size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return count > 0 ? [formatCounted(count, unit)] : []
  })
  return parts.slice(0, 2).join(" ") || "0 seconds"
}

/** Formats a duration in the largest unit that fits: `5 min`, `3 d`. */
export const formatAge = (seconds: number): string => {
  const rounded = Math.round(seconds)
  const [, unit, size] = UNITS.find(([, , size]) => rounded >= size) ?? UNITS[3]
  return `${formatCount(Math.floor(rounded / size))} ${unit}`
}

/** Formats a time relative to now: `5 min ago`, `in 3 d`. */
export const formatAgo = (seconds: number): string =>
  seconds >= 0 ? `${formatAge(seconds)} ago` : `in ${formatAge(-seconds)}`

/** Invisible characters, except line breaks and tabs, and the joiners U+200C and U+200D of scripts and emoji. */
export const INVISIBLE = /(?![\n\t\u200c\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

export const formatMillis = (millis: number | null): string => {
  if (millis === null) return "–"
  return millis < 1000
    ? `${Math.round(millis)} ms`
    : `${(millis / 1000).toLocaleString("en", { maximumFractionDigits: 1 })} s`
}

/** Describes an alert with the value of its fact. */
export const describeAlert = ({ found, unit, value }: ActiveAlert): string =>
  found(unit === "count" ? formatCount(value) : formatDuration(value))
