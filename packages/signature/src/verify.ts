import { matchClaim, readClaim, type VerifiedSignature, type VerifyOptions } from "./claim.ts"
import { webDigests } from "./webDigests.ts"

/**
 * Verifies an `X-Signature` header over the raw body. Returns the secret and the entry that matched.
 *
 * Rejects with `SignatureError` for any header or body without a valid signature, and with `RangeError` or
 * `TypeError` only if `now`, `tolerance` or `secrets` are invalid.
 * Source: Outreach Partner API specification, Authentication, 4.
 */
export async function verify(
  header: string | null | undefined,
  body: Uint8Array | string,
  secrets: readonly string[],
  options: VerifyOptions,
): Promise<VerifiedSignature> {
  const claim = readClaim(header, body, secrets, options)
  return matchClaim(claim, await webDigests(body, secrets, claim.timestamp))
}
