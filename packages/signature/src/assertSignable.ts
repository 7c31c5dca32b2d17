import { assertSecrets } from "./assertSecrets.ts"
import { SignatureError } from "./SignatureError.ts"

/** Checks that the body has bytes to sign, and that there are secrets to sign them with; throws as `assertSecrets` does, and `malformed_body`. */
export function assertSignable(body: Uint8Array | string, secrets: readonly string[]): void {
  assertSecrets(secrets)
  if (typeof body === "string" ? !isWellFormed(body) : !isBytes(body)) throw new SignatureError("malformed_body")
}

// A lone surrogate has no UTF-8: encoders put U+FFFD in its place, and two bodies would share a signature.
function isWellFormed(text: string & { isWellFormed?: () => boolean }): boolean {
  // Node 18 lacks the method. With the u flag a surrogate that belongs to a pair is not a match.
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)
}

// `instanceof` would refuse the bytes of another realm, such as a Buffer inside Jest.
function isBytes(body: unknown): boolean {
  return ArrayBuffer.isView(body) && Object.prototype.toString.call(body) === "[object Uint8Array]"
}
