import { CursorError } from "./CursorError.ts"

const MAX_DEPTH = 64
/** What a text begins with, in the typed form, that stands for a bigint, a time, or a text that itself begins so. */
const MARK = "~"

/** How values are written. Writing sets `isTyped` at the first value that JSON does not have. */
interface Form {
  isTyped: boolean
}

/**
 * Writes a value as JSON with its keys sorted, so that equal values have equal texts. In the typed form also bigints and dates.
 *
 * Throws `CursorError` `invalid_position` on what JSON would drop or alter (`undefined`, a class instance, NaN, an invalid date) and
 * on arrays and objects nested deeper than 64, cycles included.
 */
export function canonicalJson(value: unknown, form: Form, depth = 0): string {
  const write = (item: unknown) => canonicalJson(item, form, depth + 1)
  if (typeof value === "string") return JSON.stringify(form.isTyped && value[0] === MARK ? MARK + value : value)
  // JSON has a negative zero, but JSON.stringify does not write it.
  if (Object.is(value, -0)) return "-0"
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return String(value)
  const typed = typeof value === "bigint" ? `n${value}` : value instanceof Date ? `d${value.getTime()}` : ""
  if (typed && typed !== "dNaN") {
    form.isTyped = true
    return `"${MARK}${typed}"`
  }
  if (depth <= MAX_DEPTH) {
    // Array.from, because map would leave out holes.
    if (Array.isArray(value)) return `[${Array.from(value, write)}]`
    if (isPlainObject(value)) {
      const members = Object.keys(value)
        .sort()
        .map((key) => `${JSON.stringify(key)}:${write(value[key])}`)
      return `{${members}}`
    }
  }
  throw new CursorError("invalid_position")
}

/** Turns what the typed form wrote back into values, for `JSON.parse`. */
export function reviveTyped(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value[0] !== MARK) return value
  const rest = value.slice(2)
  return value[1] === "n" ? BigInt(rest) : value[1] === "d" ? new Date(Number(rest)) : value.slice(1)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
