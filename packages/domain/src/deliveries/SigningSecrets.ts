import { Context, Effect, Redacted, Schema } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { Base64Url } from "effect/encoding"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, OrganizationId, SecretId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import { Timestamp } from "../Timestamp.ts"
import { Transaction } from "../Transaction.ts"
import type { EndpointUnavailable } from "./Endpoint.ts"

/** Maximum number of active secrets of an organization or an endpoint: the maximum that a verifier accepts. */
export const MAX_ACTIVE_SECRETS = 16

export const SecretSummary = Schema.Struct({
  organizationId: OrganizationId,
  id: SecretId,
  /** The only endpoint it signs for; null for the organization's endpoints without own secrets. */
  endpointId: Schema.NullOr(EndpointId),
  createdAt: Timestamp,
  /** Expiry; null for never. */
  expiresAt: Schema.NullOr(Timestamp),
  /** Last verification of a partner's webhook, at most a minute late; null for never. */
  lastVerifiedAt: Schema.NullOr(Timestamp),
})
export type SecretSummary = typeof SecretSummary.Type

/** Owner of secrets: an organization, or an endpoint. */
export type SecretOwner = { readonly organizationId: OrganizationId } | { readonly endpointId: EndpointId }

export interface EndpointOwner {
  readonly organizationId: OrganizationId
  readonly secrets: ReadonlyArray<{
    readonly id: SecretId
    readonly secret: Redacted.Redacted
    /** Expiry in Unix milliseconds; null for never. */
    readonly expiresAt: number | null
  }>
}

export class SecretNotFound extends DescribedError("SecretNotFound", "No signing secret {secretId}.") {}

/** Stores encrypted signing secrets. Only `rotate` and `ofEndpoint` need the encryption key. */
export class SigningSecretRepository extends Context.Service<
  SigningSecretRepository,
  {
    /**
     * Adds a secret; the owner's other secrets expire after the grace period. Part of a transaction.
     * After an endpoint's first own secret, its organization's secrets also sign until the end of that period.
     *
     * Above `MAX_ACTIVE_SECRETS`, the oldest expire immediately. Returns their number.
     */
    rotate(
      owner: SecretOwner,
      secret: Redacted.Redacted,
      graceSeconds: number,
    ): Effect.Effect<number, OrganizationNotFound | EndpointUnavailable>
    /** Reads an endpoint's organization and signing secrets; undefined if the endpoint doesn't exist or was removed. */
    ofEndpoint(endpointId: EndpointId): Effect.Effect<EndpointOwner | undefined>
    /** Lists an organization's secrets with those of its endpoints, or an endpoint's own, including expired ones, newest first. */
    list(owner: SecretOwner): Effect.Effect<ReadonlyArray<SecretSummary>>
    /** Records the verification of a webhook, at most once a minute. */
    noteVerification(secretId: SecretId): Effect.Effect<void>
    /** Finds a secret, whether it is active, and the number of its owner's other active ones. */
    find(
      secretId: SecretId,
    ): Effect.Effect<
      { readonly secret: SecretSummary; readonly isActive: boolean; readonly activeOthers: number },
      SecretNotFound
    >
    /** Finds a secret, active or expired, by comparing the hash of its text; undefined if there is none. */
    findByText(secret: Redacted.Redacted): Effect.Effect<SecretSummary | undefined>
    /** Revokes a secret immediately: it neither signs nor verifies. */
    revoke(secretId: SecretId): Effect.Effect<SecretSummary, SecretNotFound>
  }
>()("domain/deliveries/SigningSecretRepository") {}

/**
 * Creates a signing secret: `whsec_` and 44 letters and digits, 262 random bits. The whole text is the key of `X-Signature`.
 *
 * 33 bytes need no base64 padding. Repeated about four times until the text has neither `-` nor `_`, so that both alphabets of base64
 * read it alike, and each library of Standard Webhooks accepts it: docs/decisions/0009-one-signing-secret-has-two-hmac-keys.md.
 */
const makeSecret = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  return Base64Url.encode(yield* random.randomBytes(33))
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
