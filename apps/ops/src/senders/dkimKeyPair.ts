import { generateDkimKeyPair, readDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Effect, FileSystem } from "effect"
import { refusal } from "../output/Output.ts"

const MAX_BYTES = 65_536

/** Reads a private signing key: RSA, PKCS#8 or PKCS#1, PEM or DER in base64. Without a file it creates one. */
export const dkimKeyPair = Effect.fnUntraced(function* (file: string | undefined) {
  if (file === undefined) return yield* generateDkimKeyPair
  const { stat, readFileString } = yield* FileSystem.FileSystem
  // Without any part of the file.
  const unusable = (reason: string) => refusal("DkimKeyUnusable", `The key file ${file} ${reason}.`, { file, reason })
  const { size } = yield* Effect.mapError(stat(file), () => unusable("cannot be read"))
  if (size > MAX_BYTES) return yield* Effect.fail(unusable("holds no RSA key"))
  const text = yield* Effect.mapError(readFileString(file), () => unusable("cannot be read"))
  return (
    readDkimKeyPair(text) ??
    (yield* Effect.fail(unusable("holds no RSA key of at least 1024 bits: PKCS#8 or PKCS#1, PEM or DER in base64")))
  )
})
