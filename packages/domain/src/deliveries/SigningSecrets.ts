import { Effect, Redacted } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Base64Url } from "effect/encoding"
import type { OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import { type SecretOwner, SigningSecretRepository } from "./SigningSecretRepository.ts"

/**
 * Creates a signing secret: `whsec_` and 43 base64url characters, 254 random bits. The whole text is the key of `X-Signature`.
 *
 * Repeated about four times until it has neither `-` nor `_`, so that it is also valid standard base64, which
 * Standard Webhooks libraries require: docs/decisions/0009-one-signing-secret-has-two-hmac-keys.md.
 */
const makeSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Base64Url.encode(yield* random.randomBytes(32))
}).pipe(
  Effect.repeat({ until: (text) => !/[-_]/.test(text) }),
  Effect.map((text) => Redacted.make(`whsec_${text}`)),
)

/** Same as `rotateSecret`, but also returns how many of the oldest secrets expired because of the limit. */
export const rotateSecretWithinBound = Effect.fn("SigningSecrets.rotateSecret")(function* (
  owner: SecretOwner,
  graceSeconds: number,
) {
  const secret = yield* makeSecret
  const ended = yield* (yield* Transaction).run((yield* SigningSecretRepository).rotate(owner, secret, graceSeconds))
  return { secret, ended }
})

/** Creates a new signing secret of an organization; the others expire after the grace period. */
export const rotateSecret = (organizationId: OrganizationId, graceSeconds: number) =>
  rotateSecretWithinBound({ organizationId }, graceSeconds).pipe(
    Effect.map(({ secret }) => secret),
    Effect.catchTags({ EndpointNotFound: Effect.die, EndpointRemoved: Effect.die }),
  )
