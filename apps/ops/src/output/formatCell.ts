/** The value of a table cell. */
export type Cell = string | number | boolean | null | ReadonlyArray<string>

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/

/** Formats a value for people. Replaces control characters, which a partner may have sent to steer the terminal. */
export const formatCell = (value: Cell): string => {
  if (value === null) return "–"
  if (typeof value === "boolean") return value ? "yes" : "no"
  const text = Array.isArray(value) ? value.join(", ") : String(value)
  return text.replace(TIMESTAMP, "$1 $2 UTC").replaceAll(/\p{Cc}/gu, "\uFFFD")
}
