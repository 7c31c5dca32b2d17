import { timingSafeEqual } from "node:crypto"
import { CursorError } from "./CursorError.ts"
import { canonicalJson } from "./canonicalJson.ts"
import { type CursorKeyRing, cursorKeyRing } from "./cursorKeyRing.ts"

/** What a codec is made of. */
export interface CursorCodecOptions<Position> {
  /** Types and checks a position, synchronously; any Standard Schema v1 validator whose output is its own input again. */
  readonly schema: StandardSchemaV1<Position>
  /** The secret key, at least 32 bytes; a string stands for its UTF-8 bytes. Or several keys: the first encodes, and all decode. */
  readonly key: Uint8Array | string | CursorKeyRing
  /** What a cursor belongs to, such as endpoint, caller and filters; not empty. It is authenticated, not carried. */
  readonly scope: string
}

/** Turns positions into cursors and back. */
export interface CursorCodec<Position> {
  /**
   * Encodes a position: equal positions give equal texts, of URL-safe characters.
   *
   * Only what the schema keeps is carried. Throws `CursorError` `invalid_position` when the schema refuses the position or its
   * output is not plain JSON, `position_too_large` when the text would pass 2,048 characters, `asynchronous_schema`.
   */
  readonly encode: (position: Position) => string
  /**
   * Decodes a cursor that this codec made, or another with a key of the same ring, the same scope and schema.
   *
   * Throws `CursorError` and nothing else, on any input: `malformed`, `unsupported_version`, `not_authentic`, and
   * `invalid_position` when the schema refuses an authentic position.
   */
  readonly decode: (cursor: string) => Position
}

const VERSION = 1
/** The version of a cursor that carries its key's id. */
const VERSION_WITH_ID = 2
const MAC_BYTES = 32
const MAX_CURSOR_LENGTH = 2048

/**
 * Creates a codec for cursors of one kind and one scope; cheap enough to do for every request.
 *
 * A cursor is base64url of a version byte, the key's id if it has one, an HMAC-SHA-256 and the position as JSON: protected from
 * change, not from reading. Throws `RangeError` on a key of fewer than 32 bytes, and `TypeError` without a scope.
 */
export function cursorCodec<Position>({ schema, key, scope }: CursorCodecOptions<Position>): CursorCodec<Position> {
  // Codecs without a scope would read each other's cursors, those of other tenants too.
  if (typeof scope !== "string" || scope === "") {
    throw new TypeError(
      "scope must be a text that is not empty and names what is paged through: endpoint, caller and filters",
    )
  }
  const ring = typeof key === "object" && "~keys" in key ? key : cursorKeyRing([{ key }])
  const keys = ring["~keys"]
  const newest = keys[0]
  // A JSON string ends where it says it does, so no scope and payload can pass for another scope and payload.
  const scopeJson = JSON.stringify(scope)
  const contextOf = (id: number | undefined): string =>
    id === undefined ? `cursor.${VERSION}.${scopeJson}` : `cursor.${VERSION_WITH_ID}.${id}.${scopeJson}`

  return {
    encode(position) {
      const payload = Buffer.from(canonicalJson(validate(schema, position)), "utf8")
      const head = newest.id === undefined ? Buffer.of(VERSION) : Buffer.of(VERSION_WITH_ID, newest.id)
      const mac = newest.authenticate(contextOf(newest.id), payload)
      const cursor = Buffer.concat([head, mac, payload]).toString("base64url")
      if (cursor.length > MAX_CURSOR_LENGTH) throw new CursorError("position_too_large")
      return cursor
    },

    decode(cursor) {
      if (typeof cursor !== "string" || cursor.length > MAX_CURSOR_LENGTH) throw new CursorError("malformed")
      const bytes = Buffer.from(cursor, "base64url")
      // Node's decoder is lenient: the one text that stands for these bytes is the one it writes itself.
      if (bytes.length === 0 || bytes.toString("base64url") !== cursor) throw new CursorError("malformed")
      if (bytes[0] !== VERSION && bytes[0] !== VERSION_WITH_ID) throw new CursorError("unsupported_version")
      const headBytes = bytes[0] === VERSION ? 1 : 2
      const mac = bytes.subarray(headBytes, headBytes + MAC_BYTES)
      const payload = bytes.subarray(headBytes + MAC_BYTES)
      if (payload.length === 0) throw new CursorError("malformed")
      const id = bytes[0] === VERSION ? undefined : bytes[1]
      const context = contextOf(id)
      const isAuthentic = keys.some(
        (key) =>
          (key.id === undefined || id === undefined || key.id === id) &&
          timingSafeEqual(mac, key.authenticate(context, payload)),
      )
      if (!isAuthentic) throw new CursorError("not_authentic")
      return validate(schema, parse(payload))
    },
  }
}

function parse(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString("utf8"))
  } catch (cause) {
    throw new CursorError("invalid_position", { cause })
  }
}

function validate<Position>(schema: StandardSchemaV1<Position>, position: unknown): Position {
  let result: ReturnType<(typeof schema)["~standard"]["validate"]>
  try {
    result = schema["~standard"].validate(position)
  } catch (cause) {
    throw new CursorError("invalid_position", { cause })
  }
  if ("then" in result) {
    result.catch(() => {}) // its answer is not wanted, and an unhandled rejection would end the process
    throw new CursorError("asynchronous_schema")
  }
  if (result.issues !== undefined) throw new CursorError("invalid_position")
  return result.value
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
