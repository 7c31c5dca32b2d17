import { readDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Effect, FileSystem, Schema } from "effect"

/** The file of a DKIM key cannot be used. Says nothing of what it holds. */
export class DkimKeyUnusable extends Schema.TaggedError<DkimKeyUnusable>()("DkimKeyUnusable", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `The key file ${this.file} ${this.reason}.`
  }
}

const MAX_BYTES = 65_536

/** Reads a private key that signs: RSA, PKCS#8 or PKCS#1, PEM or DER in base64. */
export const readDkimKey = Effect.fnUntraced(function* (file: string) {
  const { stat, readFileString } = yield* FileSystem.FileSystem
  const unusable = (reason: string) => new DkimKeyUnusable({ file, reason })
  const { size } = yield* Effect.mapError(stat(file), () => unusable("cannot be read"))
  if (size > MAX_BYTES) return yield* unusable("holds no RSA key")
  const text = yield* Effect.mapError(readFileString(file), () => unusable("cannot be read"))
  return (
    readDkimKeyPair(text) ??
    (yield* unusable("holds no RSA key of at least 1024 bits: PKCS#8 or PKCS#1, PEM or DER in base64"))
  )
})
