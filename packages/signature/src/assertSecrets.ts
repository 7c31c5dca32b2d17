import { SignatureError } from "./SignatureError.ts"

const MAX_SECRETS = 16

/**
 * Checks that there are secrets to sign or verify with, for instance at a process's start.
 *
 * Throws `SignatureError` `no_secrets`, `empty_secret` or `too_many_secrets`, and `TypeError` when they are no array of strings.
 */
export function assertSecrets(secrets: readonly string[]): void {
  // A lone string would be taken apart into secrets of one character. A hole in the array counts as a secret that is not a string.
  if (!Array.isArray(secrets) || [...secrets].some((secret) => typeof secret !== "string")) {
    throw new TypeError("secrets must be an array of strings")
  }
  if (secrets.length === 0) throw new SignatureError("no_secrets")
  if (secrets.length > MAX_SECRETS) throw new SignatureError("too_many_secrets")
  if (secrets.includes("")) throw new SignatureError("empty_secret")
}
