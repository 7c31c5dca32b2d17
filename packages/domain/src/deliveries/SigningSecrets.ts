import { Effect, Redacted } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { SigningSecretRepository } from "./SigningSecretRepository.ts"

/**
 * Creates a signing secret: `whsec_` and 44 base62 characters, 262 random bits. The whole text is the key of `X-Signature`.
 *
 * What follows `whsec_` is 33 bytes in base64 of every kind, without padding, as the libraries of Standard Webhooks read it.
 */
const makeSecret = Effect.map(randomBase62(44), (text) => Redacted.make(`whsec_${text}`))

/** Does what `rotateSecret` does, and also returns how many of the oldest secrets it ended at once, to have no more than may be active. */
export const rotateSecretWithinBound = Effect.fn("SigningSecrets.rotateSecret")(function* (
  organizationId: OrganizationId,
  graceSeconds: number,
) {
  const repository = yield* SigningSecretRepository
  const secret = yield* makeSecret
  const ended = yield* repository.rotate(organizationId, secret, graceSeconds)
  return { secret, ended }
})

/** Gives an organization a new signing secret, and lets the others end after the grace window. */
export const rotateSecret = (organizationId: OrganizationId, graceSeconds: number) =>
  Effect.map(rotateSecretWithinBound(organizationId, graceSeconds), ({ secret }) => secret)
