import { timingSafeEqual } from "node:crypto"
import { CursorError, type CursorErrorCode } from "./CursorError.ts"
import { type CursorKeyRing, cursorKeyRing } from "./cursorKeyRing.ts"

/** What a codec is made of. */
export interface CursorCodecOptions<Position> {
  /** Types and checks a position, synchronously; any Standard Schema v1 validator whose output is its own input again. */
  readonly schema: StandardSchemaV1<Position>
  /** The secret key, at least 32 bytes; a string stands for its UTF-8 bytes. Or several keys: the first encodes, and all decode. */
  readonly key: Uint8Array | string | CursorKeyRing
  /** What a cursor belongs to, such as endpoint, caller and filters; not empty. It is authenticated, not carried. */
  readonly scope: string
  /** How long a cursor is read after it was made: a whole number of seconds, minutes, hours or days. Default: without end. */
  readonly expiresAfter?: `${number}${keyof typeof UNITS}` | undefined
  /** The clock, in milliseconds since 1970, such as `Date.now`; needed for `expiresAfter` alone. */
  readonly now?: (() => number) | undefined
}

/** What a duration is written in, in seconds. */
const UNITS = { s: 1, m: 60, h: 3600, d: 86_400 } as const

/** Turns positions into cursors and back. */
export interface CursorCodec<Position> {
  /**
   * Encodes a position: equal positions give equal texts, of URL-safe characters; a codec that expires cursors adds the second.
   *
   * Only what the schema keeps is carried. Throws `CursorError` `invalid_position` when the schema refuses the position or its
   * output holds more than JSON, bigints and dates, `position_too_large` when the text would pass 2,048 characters, `asynchronous_schema`.
   */
  readonly encode: (position: Position) => string
  /**
   * Decodes a cursor that this codec made, or another with a key of the same ring, the same scope and schema; null without a cursor.
   *
   * Throws `CursorError` and nothing else, on any input: `malformed`, `unsupported_version`, `not_authentic`, `expired`, and
   * `invalid_position` when the schema refuses an authentic position.
   */
  readonly decode: Decode<Position>
}

interface Decode<Position> {
  (cursor: string): Position
  (cursor: string | null | undefined): Position | null
}

/** Of a cursor that holds a position as JSON; the next version carries its key's id, too. */
const VERSION = 1
/** Of a cursor that holds the typed form of a position in an array, which the second it was made may follow; the next carries an id. */
const TYPED_VERSION = 3
const MAC_BYTES = 32
const MAX_CURSOR_LENGTH = 2048

/**
 * Creates a codec for cursors of one kind and one scope; cheap enough to do for every request.
 *
 * A cursor is base64url of a version byte, the key's id if it has one, an HMAC-SHA-256 and the position as JSON: protected from
 * change, not from reading. Throws `RangeError` on a key of fewer than 32 bytes, and `TypeError` without a scope, on another
 * duration, and on a duration without a clock.
 */
export function cursorCodec<Position>(options: CursorCodecOptions<Position>): CursorCodec<Position> {
  const { schema, key, scope, expiresAfter, now } = options
  // Codecs without a scope would read each other's cursors, those of other tenants too.
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
  // A JSON string ends where it says it does, so no scope and payload can pass for another scope and payload.
  const scopeJson = JSON.stringify(scope)
  const contextOf = (head: Uint8Array): string => `cursor.${head.join(".")}.${scopeJson}`

  return {
    encode(position) {
      const value = validate(schema, position)
      const form = { isTyped: lifetime !== undefined }
      let json = canonicalJson(value, form)
      // The first writing did not know of types before it met one, and left the texts before it unmarked.
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
      // Node's decoder is lenient: the one text that stands for these bytes is the one it writes itself.
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
      // A cursor from the future is a clock that jumped, and would live longer than it may. Without a time, none is near.
      assert(!lifetime || Math.abs(seconds() - madeAt!) <= lifetime, "expired")
      return validate(schema, position)
    }) as Decode<Position>,
  }
}

function validate<Position>(schema: StandardSchemaV1<Position>, position: unknown): Position {
  const result = attempt(() => schema["~standard"].validate(position))
  if ("then" in result) {
    result.catch(() => {}) // its answer is not wanted, and an unhandled rejection would end the process
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

/** The part of a Standard Schema v1 validator that is used here. Source: https://standardschema.dev */
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
function canonicalJson(value: unknown, form: Form, depth = 0): string {
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
