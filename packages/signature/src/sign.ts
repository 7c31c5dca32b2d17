import { assertSignable } from "./assertSignable.ts"
import { assertTimestamp, formatHeader } from "./header.ts"
import { webDigests } from "./webDigests.ts"

/** What a signer adds to the body. */
export interface SignOptions {
  /** The signer's clock in whole Unix seconds. */
  readonly timestamp: number
}

/**
 * Signs a body with every secret, for the `X-Signature` header.
 *
 * A string is signed as its UTF-8 bytes. Rejects with `SignatureError` (`malformed_body`, `no_secrets`, `empty_secret`,
 * `too_many_secrets`), and with `RangeError` on a timestamp that is not a whole number.
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
