import { Context, type Effect } from "effect"
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

/** All signing secrets, as an operator sees them; it needs no key, and never reads a secret. */
export class SecretLedger extends Context.Service<
  SecretLedger,
  {
    /** Lists an organization's secrets, also those that are over, newest first. */
    list(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<SecretSummary>>
  }
>()("domain/deliveries/SecretLedger") {}
