import { CursorError } from "./CursorError.ts"

const MAX_DEPTH = 64

/**
 * Writes a value as JSON with its keys sorted, so that equal values have equal texts.
 *
 * Throws `CursorError` `invalid_position` on what JSON would drop or alter (`undefined`, a `Date`, a class instance, NaN, a
 * bigint) and on anything nested deeper than 64, cycles included.
 */
export function canonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new CursorError("invalid_position")
  if (value === null || typeof value === "boolean" || typeof value === "string") return JSON.stringify(value)
  if (typeof value === "number" && Number.isFinite(value)) {
    // JSON has a negative zero, but JSON.stringify does not write it.
    return Object.is(value, -0) ? "-0" : JSON.stringify(value)
  }
  // Array.from, because map would leave out holes.
  if (Array.isArray(value)) return `[${Array.from(value, (item) => canonicalJson(item, depth + 1)).join(",")}]`
  if (!isPlainObject(value)) throw new CursorError("invalid_position")
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key], depth + 1)}`)
  return `{${members.join(",")}}`
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
