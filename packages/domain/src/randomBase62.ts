import { Effect } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** Draws `length` uniformly distributed base62 characters from the cryptographic source. */
export const randomBase62 = Effect.fnUntraced(function* (length: number) {
  const random = yield* SecureRandom.SecureRandom
  let text = ""
  while (text.length < length) {
    for (const byte of yield* random.randomBytes(2 * length)) {
      // 248 = 4 × 62: higher bytes would favour the first eight characters.
      if (byte < 248 && text.length < length) text += ALPHABET[byte % 62]
    }
  }
  return text
})
