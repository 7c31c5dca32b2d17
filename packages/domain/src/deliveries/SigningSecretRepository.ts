import { Context, type Effect, type Redacted, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, OrganizationId, SecretId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import { Timestamp } from "../Timestamp.ts"
import type { EndpointUnavailable } from "./EndpointRepository.ts"

/** How long a rotated signing secret stays active, by default: 24 hours. */
export const DEFAULT_GRACE_SECONDS = 86_400

/** The most secrets that are active at once, of an organization or for an endpoint: as many as a signature is verified with. */
export const MAX_ACTIVE_SECRETS = 16

export const SecretSummary = Schema.Struct({
  organizationId: OrganizationId,
  id: SecretId,
  /** The endpoint that it signs for alone; null for the organization's endpoints without secrets of their own. */
  endpointId: Schema.NullOr(EndpointId),
  createdAt: Timestamp,
  /** When it ceases to be active; null for never. */
  expiresAt: Schema.NullOr(Timestamp),
  /** When it last signed for a worker, five minutes late at most; null for never. */
  lastUsedAt: Schema.NullOr(Timestamp),
  /** When a webhook of the partner was last verified with it, a minute late at most; null for never. */
  lastVerifiedAt: Schema.NullOr(Timestamp),
})
export type SecretSummary = typeof SecretSummary.Type

/** Whose secrets they are: an organization's, or an endpoint's own. */
export type SecretOwner = { readonly organizationId: OrganizationId } | { readonly endpointId: EndpointId }

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

/** Keeps signing secrets, encrypted. Only `rotate` and `ofEndpoint` need the key that encrypts them. */
export class SigningSecretRepository extends Context.Service<
  SigningSecretRepository,
  {
    /**
     * Adds a secret and lets the owner's others end after the grace window. Part of a transaction.
     * With the first one of its own, an endpoint is signed for with its organization's until the end of that window.
     *
     * Past `MAX_ACTIVE_SECRETS` the oldest end at once; returns how many did.
     */
    rotate(
      owner: SecretOwner,
      secret: Redacted.Redacted,
      graceSeconds: number,
    ): Effect.Effect<number, OrganizationNotFound | EndpointUnavailable>
    /** Reads whose endpoint it is, and the secrets that sign for it; undefined for an endpoint that does not exist, or was removed. */
    ofEndpoint(endpointId: EndpointId): Effect.Effect<EndpointOwner | undefined>
    /** Lists an organization's secrets with those of its endpoints, or an endpoint's own, also those that are over, newest first. */
    list(owner: SecretOwner): Effect.Effect<ReadonlyArray<SecretSummary>>
    /** Notes that a webhook was verified with a secret, once a minute. */
    noteVerification(secretId: SecretId): Effect.Effect<void>
    /** Finds a secret, whether it is active, and how many others of its owner are. */
    find(
      secretId: SecretId,
    ): Effect.Effect<
      { readonly secret: SecretSummary; readonly isActive: boolean; readonly activeOthers: number },
      SecretNotFound
    >
    /** Finds a secret, also one that is over, by its text, of which only the hash is compared; undefined if there is none. */
    findByText(secret: Redacted.Redacted): Effect.Effect<SecretSummary | undefined>
    /** Ends a secret now: from then on it neither signs nor verifies. */
    revoke(secretId: SecretId): Effect.Effect<SecretSummary, SecretNotFound>
  }
>()("domain/deliveries/SigningSecretRepository") {}
