import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib"
import { Schema } from "effect"

/** The stored form of a response body; null if there is no body. */
export const StoredBody = Schema.Struct({
  encoding: Schema.Literals(["identity", "zstd"]),
  body: Schema.NullOr(Schema.Uint8Array),
})
export type StoredBody = typeof StoredBody.Type

/** Smaller bodies are stored uncompressed, because compression would save little. */
const SMALL_BYTES = 1024

/**
 * zstd at level 1 compresses a page of 500 recipients from 187 kB to 34 kB in 0.5 ms, and decompresses it in 0.3 ms.
 *
 * The fastest level of gzip takes 1.2 ms for 37 kB; brotli at quality 1 takes 0.7 ms for 36 kB.
 */
const LEVEL = { params: { [constants.ZSTD_c_compressionLevel]: 1 } }

/** Compresses a body if it is large enough. */
export const packBody = (text: string | null): StoredBody => {
  const body = text === null ? null : Buffer.from(text)
  return body === null || body.length < SMALL_BYTES
    ? { encoding: "identity", body }
    : { encoding: "zstd", body: zstdCompressSync(body, LEVEL) }
}

export const unpackBody = ({ encoding, body }: StoredBody): string | null =>
  body && (encoding === "zstd" ? zstdDecompressSync(body) : Buffer.from(body)).toString()
