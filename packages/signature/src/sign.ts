import { assertSignable } from "./assertSignable.ts"
import { assertTimestamp, formatHeader } from "./header.ts"
import { webDigests } from "./webDigests.ts"

/** Options of `sign`. */
export interface SignOptions {
  /** Current Unix time in whole seconds. */
  readonly timestamp: number
}

/**
 * Signs a body with every secret. Returns the value of the `X-Signature` header.
 *
 * Strings are signed as UTF-8. Rejects with `SignatureError` (`malformed_body`, `no_secrets`, `empty_secret`,
 * `too_many_secrets`), and with `RangeError` unless the timestamp is a whole number.
 */
export async function sign(
  body: Uint8Array | string,
  secrets: readonly string[],
  { timestamp }: SignOptions,
): Promise<string> {
  assertTimestamp(timestamp)
  assertSignable(body, secrets)
  return formatHeader({ timestamp, entries: await webDigests(body, secrets, timestamp) })
}
