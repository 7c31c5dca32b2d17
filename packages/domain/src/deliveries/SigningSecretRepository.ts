import { Context, type Effect, type Redacted, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, OrganizationId, SecretId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import { Timestamp } from "../Timestamp.ts"

/** How long a rotated signing secret stays active, by default: 24 hours. */
export const DEFAULT_GRACE_SECONDS = 86_400

/** The secrets that an organization has active at once: as many as a signature is verified with. */
export const MAX_ACTIVE_SECRETS = 16

export const SecretSummary = Schema.Struct({
  organizationId: OrganizationId,
  id: SecretId,
  createdAt: Timestamp,
  /** When it ceases to be active; null for never. */
  expiresAt: Schema.NullOr(Timestamp),
  /** When it last signed for a worker, five minutes late at most; null for never. */
  lastUsedAt: Schema.NullOr(Timestamp),
  /** When a webhook of the partner was last verified with it, a minute late at most; null for never. */
  lastVerifiedAt: Schema.NullOr(Timestamp),
})
export type SecretSummary = typeof SecretSummary.Type

/** That webhooks to an endpoint were verified with a secret: the partner signs them with it. */
export const SecretVerification = Schema.Struct({
  organizationId: OrganizationId,
  secretId: SecretId,
  endpointId: EndpointId,
  verifiedAt: Timestamp,
})
export type SecretVerification = typeof SecretVerification.Type

export interface EndpointOwner {
  readonly organizationId: OrganizationId
  readonly secrets: ReadonlyArray<{
    readonly id: SecretId
    readonly secret: Redacted.Redacted
    /** Unix milliseconds from which it is no longer active; null for none. */
    readonly expiresAt: number | null
  }>
}

export class SecretNotFound extends DescribedError("SecretNotFound", "No signing secret {secretId}.") {}

/** Keeps signing secrets, encrypted. Only `rotate`, `active` and `ofEndpoint` need the key that encrypts them. */
export class SigningSecretRepository extends Context.Service<
  SigningSecretRepository,
  {
    /**
     * Adds a secret and lets the others end after the grace window. Part of a transaction.
     *
     * Past `MAX_ACTIVE_SECRETS` the oldest end at once; returns how many did.
     */
    rotate(
      organizationId: OrganizationId,
      secret: Redacted.Redacted,
      graceSeconds: number,
    ): Effect.Effect<number, OrganizationNotFound>
    /** Reads the secrets that are active now, newest first. */
    active(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<Redacted.Redacted>>
    /** Reads whose endpoint it is; undefined when there is no such endpoint. */
    ofEndpoint(endpointId: EndpointId): Effect.Effect<EndpointOwner | undefined>
    /** Lists an organization's secrets, also those that are over, newest first. */
    list(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<SecretSummary>>
    /** Lists which of an organization's endpoints got webhooks that a secret verified, and when last; newest first. */
    verifications(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<SecretVerification>>
    /** Finds a secret, whether it is active, and how many others of its organization are. */
    find(
      secretId: SecretId,
    ): Effect.Effect<
      { readonly secret: SecretSummary; readonly isActive: boolean; readonly activeOthers: number },
      SecretNotFound
    >
    /** Ends a secret now: from then on it neither signs nor verifies. */
    revoke(secretId: SecretId): Effect.Effect<SecretSummary, SecretNotFound>
  }
>()("domain/deliveries/SigningSecretRepository") {}
