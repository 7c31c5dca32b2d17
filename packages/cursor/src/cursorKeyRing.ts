import { createHmac, createSecretKey } from "node:crypto"

/** One of several keys. */
export interface CursorKey {
  /** The secret key, at least 32 bytes; a string stands for its UTF-8 bytes. */
  readonly key: Uint8Array | string
  /**
   * A whole number from 0 to 255 that this key's cursors carry, so that only the keys of that id are tried for them.
   *
   * Without an id, the key makes the same cursors as a single key, and is tried for every cursor.
   */
  readonly id?: number | undefined
}

/** Keys that were checked and prepared once, for any number of codecs. */
export interface CursorKeyRing {
  /** For `cursorCodec` alone. */
  readonly "~keys": readonly [PreparedKey, ...ReadonlyArray<PreparedKey>]
}

/** A key that authenticates payloads. */
export interface PreparedKey {
  readonly id: number | undefined
  readonly authenticate: (context: string, payload: Uint8Array) => Uint8Array
}

const MIN_KEY_BYTES = 32

/**
 * Prepares several keys for `cursorCodec`: the first makes cursors, and the cursors of all are read.
 *
 * Throws `RangeError` without any key, on a key of fewer than 32 bytes, and on an id that is not a byte.
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
