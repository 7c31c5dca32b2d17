import { linkHostOf } from "@outreach/backoffice/senders/linkHostOf"
import { lookUpSender, SenderSetup } from "@outreach/backoffice/senders/SenderSetup"
import { generateDkimKeyPair, readDkimKeyPair } from "@outreach/mail/dkimKeys"
import { Effect, FileSystem, Layer } from "effect"
import { refusal } from "../output/Output.ts"
import { linkTarget } from "./linkTarget.ts"

const MAX_BYTES = 65_536

/** Reads a private signing key: RSA, PKCS#8 or PKCS#1, PEM or DER in base64. */
const readKeyPair = Effect.fnUntraced(function* (file: string) {
  const { stat, readFileString } = yield* FileSystem.FileSystem
  // Without any part of the file.
  const unusable = (reason: string) => refusal("DkimKeyUnusable", `The key file ${file} ${reason}.`, { file, reason })
  const { size } = yield* Effect.mapError(stat(file), () => unusable("cannot be read"))
  if (size > MAX_BYTES) return yield* Effect.fail(unusable("contains no RSA key"))
  const text = yield* Effect.mapError(readFileString(file), () => unusable("cannot be read"))
  return (
    readDkimKeyPair(text) ??
    (yield* Effect.fail(unusable("contains no RSA key of at least 1024 bits: PKCS#8 or PKCS#1, PEM or DER in base64")))
  )
})

export const senderSetup = Layer.effect(
  SenderSetup,
  Effect.gen(function* () {
    const target = yield* linkTarget
    const files = yield* FileSystem.FileSystem
    return {
      linkHost: linkHostOf(target.publicBaseUrl),
      lookUp: (sender, linkDomain, dnsServer) =>
        lookUpSender(dnsServer === undefined ? [] : [dnsServer], target, sender, linkDomain),
      keyPair: (file) =>
        file === undefined
          ? generateDkimKeyPair
          : Effect.provideService(readKeyPair(file), FileSystem.FileSystem, files),
    }
  }),
)
