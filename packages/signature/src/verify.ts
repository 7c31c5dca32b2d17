import { matchClaim, readClaim, type VerifiedSignature, type VerifyOptions } from "./claim.ts"
import { webDigests } from "./webDigests.ts"

/**
 * Verifies an `X-Signature` header over the raw body, and returns which secret and which entry matched.
 *
 * Rejects with `SignatureError` when the signature is not good, whatever the header and the body hold; with `RangeError` or
 * `TypeError` only when `now`, `tolerance` or `secrets` are of the wrong kind.
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
