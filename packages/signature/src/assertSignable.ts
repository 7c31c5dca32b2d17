import { SignatureError } from "./SignatureError.ts"

const MAX_SECRETS = 16

/**
 * Checks the secrets, for example when a process starts.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` unless they are an array of strings.
 */
export function assertSecrets(secrets: readonly string[]): void {
  // A plain string would be split into one-character secrets. `findIndex`, because `some` skips holes.
  if (!Array.isArray(secrets) || secrets.findIndex((secret) => typeof secret !== "string") >= 0) {
    throw new TypeError("secrets must be an array of strings")
  }
  if (secrets.length === 0) throw new SignatureError("no_secrets")
  if (secrets.length > MAX_SECRETS) throw new SignatureError("too_many_secrets")
  if (secrets.includes("")) throw new SignatureError("empty_secret")
}

/** Checks the body and the secrets. Throws `malformed_body` and the errors of `assertSecrets`. */
export function assertSignable(body: Uint8Array | string, secrets: readonly string[]): void {
  assertSecrets(secrets)
  if (typeof body === "string" ? !isWellFormed(body) : !isBytes(body)) throw new SignatureError("malformed_body")
}

// A lone surrogate has no UTF-8 encoding: encoders replace it with U+FFFD, so two bodies would share a signature.
function isWellFormed(text: string & { isWellFormed?: () => boolean }): boolean {
  // Node 18 lacks the method. With the u flag, surrogate pairs don't match.
  return text.isWellFormed?.() ?? !/\p{Surrogate}/u.test(text)
}

// `instanceof` would reject bytes of another realm, such as a Buffer inside Jest.
function isBytes(body: unknown): boolean {
  return ArrayBuffer.isView(body) && Object.prototype.toString.call(body) === "[object Uint8Array]"
}
