import { timingSafeEqual } from "node:crypto"
import { CursorError, type CursorErrorCode } from "./CursorError.ts"
import { type CursorKeyRing, cursorKeyRing } from "./cursorKeyRing.ts"

/** Options of `cursorCodec`. */
export interface CursorCodecOptions<Position> {
  /** Types and validates a position synchronously. Any Standard Schema v1 validator that accepts its own output as input. */
  readonly schema: StandardSchemaV1<Position>
  /** Secret key of at least 32 bytes (strings are read as UTF-8), or several keys: the first encodes, all of them decode. */
  readonly key: Uint8Array | string | CursorKeyRing
  /** The context a cursor is bound to, such as endpoint, caller and filters. Not empty. Authenticated, but not included in the cursor. */
  readonly scope: string
  /** Lifetime of a cursor in whole seconds, minutes, hours or days. Default: unlimited. */
  readonly expiresAfter?: `${number}${keyof typeof UNITS}` | undefined
  /** Clock in milliseconds since 1970, such as `Date.now`. Required with `expiresAfter`. */
  readonly now?: (() => number) | undefined
}

/** Units of a duration, in seconds. */
const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Encodes positions as cursors and decodes them. */
export interface CursorCodec<Position> {
  /**
   * Encodes a position as URL-safe text. Equal positions return equal text, unless the codec has `expiresAfter`, which adds the current second.
   *
   * Includes only the schema's output. Throws `CursorError`: `invalid_position` if the schema rejects the position or its output contains
   * values other than JSON, bigints and dates, `position_too_large` if the text exceeds 2,048 characters, `asynchronous_schema`.
   */
  readonly encode: (position: Position) => string
  /**
   * Decodes a cursor made with a key of the same ring, the same scope and the same schema. Returns null for null or undefined.
   *
   * Throws only `CursorError`, for any input: `malformed`, `unsupported_version`, `not_authentic`, `expired`, and
   * `invalid_position` if the schema rejects an authentic position.
   */
  readonly decode: Decode<Position>
}

interface Decode<Position> {
  (cursor: string): Position
  (cursor: string | null | undefined): Position | null
}

/** Version byte of a position as JSON. `VERSION + 1` also includes the key id. */
const VERSION = 1
/** Version byte of the typed form: an array of the position and, with `expiresAfter`, the second of creation. The next version includes the key id. */
const TYPED_VERSION = 3
const MAC_BYTES = 32
const MAX_CURSOR_LENGTH = 2048

/**
 * Creates a codec for cursors of one kind and one scope. Cheap enough to create for each request.
 *
 * A cursor is base64url of a version byte, the key id (if any), an HMAC-SHA-256 and the position as JSON: it is protected against
 * changes, but readable. Throws `RangeError` on a key shorter than 32 bytes, and `TypeError` on an empty scope, an invalid
 * duration, or a duration without a clock.
 */
export function cursorCodec<Position>(options: CursorCodecOptions<Position>): CursorCodec<Position> {
  const { schema, key, scope, expiresAfter, now } = options
  // Without a scope, a codec would accept the cursors of other lists and other tenants.
  if (typeof scope !== "string" || scope === "") {
    throw new TypeError("scope must be a text that names what is paged through: endpoint, caller and filters")
  }
  const [, count, unit] = /^([1-9]\d{0,8})([smhd])$/.exec(expiresAfter ?? "") ?? []
  if (expiresAfter !== undefined && !(unit && typeof now === "function")) {
    throw new TypeError('expiresAfter must be a duration such as "30m" or "1d", with a clock such as now: Date.now')
  }
  const lifetime = unit && Number(count) * UNITS[unit as keyof typeof UNITS]
  const seconds = () => Math.floor(now!() / 1000)
  const keys = (typeof key === "object" && "~keys" in key ? key : cursorKeyRing([{ key }]))["~keys"]
  // JSON strings delimit themselves, so two different pairs of scope and payload never authenticate the same bytes.
  const scopeJson = JSON.stringify(scope)
  const contextOf = (head: Uint8Array): string => `cursor.${head.join(".")}.${scopeJson}`

  return {
    encode(position) {
      const value = validate(schema, position)
      const form = { isTyped: lifetime !== undefined }
      let json = canonicalJson(value, form)
      // The first pass leaves text unescaped until it meets a typed value, so write the value again in the typed form.
      if (form.isTyped) json = canonicalJson(lifetime ? [value, seconds()] : [value], form, -1)
      const { id, authenticate } = keys[0]
      const version = form.isTyped ? TYPED_VERSION : VERSION
      const head = Buffer.from(id === undefined ? [version] : [version + 1, id])
      const payload = Buffer.from(json)
      const cursor = Buffer.concat([head, authenticate(contextOf(head), payload), payload]).toString("base64url")
      assert(cursor.length <= MAX_CURSOR_LENGTH, "position_too_large")
      return cursor
    },

    decode: ((cursor) => {
      if (cursor === undefined || cursor === null) return null
      assert(typeof cursor === "string" && cursor.length <= MAX_CURSOR_LENGTH, "malformed")
      const bytes = Buffer.from(cursor, "base64url")
      const version = bytes[0] ?? 0
      // Node's decoder is lenient: accept only the canonical encoding of these bytes.
      assert(bytes.length > 0 && bytes.toString("base64url") === cursor, "malformed")
      assert(version >= VERSION && version <= TYPED_VERSION + 1, "unsupported_version")
      const head = bytes.subarray(0, version % 2 === 1 ? 1 : 2)
      const mac = bytes.subarray(head.length, head.length + MAC_BYTES)
      const payload = bytes.subarray(head.length + MAC_BYTES)
      assert(payload.length > 0, "malformed")
      const [, id] = head
      const context = contextOf(head)
      const isAuthentic = keys.some(
        (key) =>
          (key.id === undefined || id === undefined || key.id === id) &&
          timingSafeEqual(mac, key.authenticate(context, payload)),
      )
      assert(isAuthentic, "not_authentic")
      const isTyped = version >= TYPED_VERSION
      const parsed: unknown = attempt(() => JSON.parse(payload.toString(), isTyped ? reviveTyped : undefined))
      const [position, madeAt] = isTyped ? (parsed as [unknown, number?]) : [parsed]
      // A cursor from the future results from a clock that was set back, and would outlive its lifetime. A missing time fails the comparison.
      assert(!lifetime || Math.abs(seconds() - madeAt!) <= lifetime, "expired")
      return validate(schema, position)
    }) as Decode<Position>,
  }
}

function validate<Position>(schema: StandardSchemaV1<Position>, position: unknown): Position {
  const result = attempt(() => schema["~standard"].validate(position))
  if ("then" in result) {
    result.catch(() => {}) // the result isn't used, and an unhandled rejection would end the process
    throw new CursorError("asynchronous_schema")
  }
  assert(result.issues === undefined, "invalid_position")
  return result.value
}

function assert(condition: boolean, code: CursorErrorCode): asserts condition {
  if (!condition) throw new CursorError(code)
}

function attempt<Result>(run: () => Result): Result {
  try {
    return run()
  } catch (cause) {
    throw new CursorError("invalid_position", { cause })
  }
}

/** The subset of a Standard Schema v1 validator that the codec uses. Source: https://standardschema.dev */
export interface StandardSchemaV1<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of a Standard Schema validator: a value, or issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<{ readonly message: string }> }

const MAX_DEPTH = 64
/** Prefix of text in the typed form that encodes a bigint, a time, or text that starts with this prefix. */
const MARK = "~"

/** Encoding mode. The writer sets `isTyped` at the first value that JSON can't represent. */
interface Form {
  isTyped: boolean
}

/**
 * Returns a value as JSON with sorted keys, so that equal values have equal text. The typed form also supports bigints and dates.
 *
 * Throws `CursorError` `invalid_position` on values that JSON would drop or change (`undefined`, class instances, NaN, invalid dates)
 * and on arrays and objects nested deeper than 64 levels, including cycles.
 */
function canonicalJson(value: unknown, form: Form, depth = 0): string {
  const write = (item: unknown) => canonicalJson(item, form, depth + 1)
  if (typeof value === "string") return JSON.stringify(form.isTyped && value[0] === MARK ? MARK + value : value)
  // JSON.stringify writes -0 as 0.
  if (Object.is(value, -0)) return "-0"
  if (value === null || typeof value === "boolean" || Number.isFinite(value)) return String(value)
  const typed = typeof value === "bigint" ? `n${value}` : value instanceof Date ? `d${value.getTime()}` : ""
  if (typed && typed !== "dNaN") {
    form.isTyped = true
    return `"${MARK}${typed}"`
  }
  if (depth <= MAX_DEPTH) {
    // Array.from, because map skips holes.
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

/** Restores values of the typed form, as a reviver of `JSON.parse`. */
function reviveTyped(_key: string, value: unknown): unknown {
  if (typeof value !== "string" || value[0] !== MARK) return value
  const rest = value.slice(2)
  return value[1] === "n" ? BigInt(rest) : value[1] === "d" ? new Date(Number(rest)) : value.slice(1)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
