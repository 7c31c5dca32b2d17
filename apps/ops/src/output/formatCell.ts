/** What a cell of a table can show. */
export type Cell = string | number | boolean | null | ReadonlyArray<string>

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{6}Z$/

/** Writes a value for people; control characters, which a partner may have put there, never reach the terminal. */
export const formatCell = (value: Cell): string => {
  if (value === null) return "–"
  if (typeof value === "boolean") return value ? "yes" : "no"
  const text = Array.isArray(value) ? value.join(", ") : String(value)
  return text.replace(TIMESTAMP, "$1 $2 UTC").replaceAll(/\p{Cc}/gu, "\uFFFD")
}
