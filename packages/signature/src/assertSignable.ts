import { SignatureError } from "./SignatureError.ts"

const MAX_SECRETS = 16

/**
 * Checks that there are secrets to sign or verify with, for instance at a process's start.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` when they are no array of strings.
 */
export function assertSecrets(secrets: readonly string[]): void {
  // A lone string would be taken apart into secrets of one character. A hole in the array counts as a secret that is not a string: `some` skips it.
  if (!Array.isArray(secrets) || secrets.findIndex((secret) => typeof secret !== "string") >= 0) {
    throw new TypeError("secrets must be an array of strings")
  }
  if (secrets.length === 0) throw new SignatureError("no_secrets")
  if (secrets.length > MAX_SECRETS) throw new SignatureError("too_many_secrets")
  if (secrets.includes("")) throw new SignatureError("empty_secret")
}

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
