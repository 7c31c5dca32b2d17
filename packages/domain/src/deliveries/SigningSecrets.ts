import { Effect, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Base64Url } from "effect/encoding"
import type { OrganizationId } from "../Identifier.ts"
import { SecretVault } from "./SecretVault.ts"

/** Makes a signing secret: `whsec_` and 43 base64url characters, 256 random bits. The whole text is the HMAC key. */
const makeSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Redacted.make(`whsec_${Base64Url.encode(yield* random.randomBytes(32))}`)
})

/** Gives an organization a new signing secret, and lets the others end after the grace window. */
export const rotateSecret = Effect.fn("SigningSecrets.rotateSecret")(function* (
  organizationId: OrganizationId,
  graceSeconds: number,
) {
  const vault = yield* SecretVault
  const secret = yield* makeSecret
  yield* vault.rotate(organizationId, secret, graceSeconds)
  return secret
})
