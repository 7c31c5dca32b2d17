import { createHmac, createSecretKey } from "node:crypto"

/** A key of a ring. */
export interface CursorKey {
  /** Secret key of at least 32 bytes. Strings are read as UTF-8. */
  readonly key: Uint8Array | string
  /**
   * Whole number from 0 to 255, included in this key's cursors, so that decoding tries only keys with that id.
   *
   * Without an id, the key makes the same cursors as a single key, and decoding tries it for every cursor.
   */
  readonly id?: number | undefined
}

/** Validated keys, usable by any number of codecs. */
export interface CursorKeyRing {
  /** Internal to `cursorCodec`. */
  readonly "~keys": readonly [PreparedKey, ...ReadonlyArray<PreparedKey>]
}

/** A key that can authenticate payloads. */
export interface PreparedKey {
  readonly id: number | undefined
  readonly authenticate: (context: string, payload: Uint8Array) => Uint8Array
}

const MIN_KEY_BYTES = 32

/**
 * Prepares several keys for `cursorCodec`: the first encodes, all of them decode.
 *
 * Throws `RangeError` on an empty list, a key shorter than 32 bytes, and an id outside 0 to 255.
 */
export function cursorKeyRing(keys: ReadonlyArray<CursorKey>): CursorKeyRing {
  const [newest, ...older] = keys.map(prepare)
  if (newest === undefined) throw new RangeError("a ring must have at least one key")
  return { "~keys": [newest, ...older] }
}

function prepare({ key, id }: CursorKey): PreparedKey {
  const bytes = typeof key === "string" ? Buffer.from(key, "utf8") : key
  if (bytes.byteLength < MIN_KEY_BYTES) throw new RangeError("key must be at least 32 bytes")
  if (id !== undefined && !(Number.isInteger(id) && id >= 0 && id <= 255)) throw new RangeError("id must be a byte")
  const secretKey = createSecretKey(bytes)
  return {
    id,
    authenticate: (context, payload) => createHmac("sha256", secretKey).update(context).update(payload).digest(),
  }
}
