import { assertSignable } from "./assertSignable.ts"
import { matchClaim, readClaim, type VerifiedSignature, type VerifyOptions } from "./claim.ts"
import { assertTimestamp, formatHeader } from "./header.ts"
import { nodeDigests } from "./nodeDigests.ts"
import type { SignOptions } from "./sign.ts"

export { assertSecrets } from "./assertSignable.ts"
export { assertNow, readTolerance, type Tolerance, type VerifiedSignature, type VerifyOptions } from "./claim.ts"
export { SignatureError, type SignatureErrorCode } from "./SignatureError.ts"
export type { SignOptions } from "./sign.ts"

/** Synchronous `sign` of the main entry. Throws where that one rejects. */
export function sign(body: Uint8Array | string, secrets: readonly string[], { timestamp }: SignOptions): string {
  assertTimestamp(timestamp)
  assertSignable(body, secrets)
  return formatHeader({ timestamp, entries: nodeDigests(body, secrets, timestamp) })
}

/** Synchronous `verify` of the main entry. Throws where that one rejects. */
export function verify(
  header: string | null | undefined,
  body: Uint8Array | string,
  secrets: readonly string[],
  options: VerifyOptions,
): VerifiedSignature {
  const claim = readClaim(header, body, secrets, options)
  return matchClaim(claim, nodeDigests(body, secrets, claim.timestamp))
}
