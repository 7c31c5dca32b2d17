import { Effect, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Base64Url } from "effect/encoding"
import type { OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import { type SecretOwner, SigningSecretRepository } from "./SigningSecretRepository.ts"

/**
 * Creates a signing secret: `whsec_` and 43 base64url characters, 254 random bits. The whole text is the key of `X-Signature`.
 *
 * It is drawn until it has neither `-` nor `_`, about four times, so that it is base64 of the other alphabet, too.
 * Libraries of Standard Webhooks read that one: docs/decisions/0009-one-signing-secret-has-two-hmac-keys.md.
 */
const makeSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Base64Url.encode(yield* random.randomBytes(32))
}).pipe(
  Effect.repeat({ until: (text) => !/[-_]/.test(text) }),
  Effect.map((text) => Redacted.make(`whsec_${text}`)),
)

/** Rotates like `rotateSecret`; returns also how many of the oldest secrets ended at once, because no more may be active. */
export const rotateSecretWithinBound = Effect.fn("SigningSecrets.rotateSecret")(function* (
  owner: SecretOwner,
  graceSeconds: number,
) {
  const secret = yield* makeSecret
  const ended = yield* (yield* Transaction).run((yield* SigningSecretRepository).rotate(owner, secret, graceSeconds))
  return { secret, ended }
})

/** Gives an organization a new signing secret, and lets the others end after the grace window. */
export const rotateSecret = (organizationId: OrganizationId, graceSeconds: number) =>
  rotateSecretWithinBound({ organizationId }, graceSeconds).pipe(
    Effect.map(({ secret }) => secret),
    Effect.catchTags({ EndpointNotFound: Effect.die, EndpointRemoved: Effect.die }),
  )
