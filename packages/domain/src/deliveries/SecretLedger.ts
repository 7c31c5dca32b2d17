import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, SecretId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** A signing secret as an operator sees it: all but the secret. */
export interface SecretSummary {
  readonly organizationId: OrganizationId
  readonly id: SecretId
  readonly createdAt: Timestamp
  /** When it stops to be active; null for never. */
  readonly expiresAt: Timestamp | null
  /** When it last signed for a worker, five minutes late at most; null for never. */
  readonly lastUsedAt: Timestamp | null
}

/** No signing secret has this id. */
export class SecretNotFound extends Schema.TaggedError<SecretNotFound>()("SecretNotFound", {
  secretId: Schema.String,
}) {
  override get message(): string {
    return `No signing secret ${this.secretId}.`
  }
}

/** All signing secrets, as an operator sees them; it needs no key, and never reads a secret. */
export class SecretLedger extends Context.Service<
  SecretLedger,
  {
    /** Lists an organization's secrets, also those that are over, newest first. */
    list(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<SecretSummary>>
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
>()("domain/deliveries/SecretLedger") {}
