import { Context, type Effect, type Redacted } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { KeyId, OrganizationId } from "../Identifier.ts"
import type { ApiKey, Caller } from "./ApiKey.ts"
import type { OrganizationNotFound } from "./Organization.ts"

export class KeyNotFound extends DescribedError("KeyNotFound", "No API key {keyId}.") {}

export class KeyRevoked extends DescribedError("KeyRevoked", "API key {keyId} was revoked; issue a new one instead.") {}

export interface NewKey extends Pick<ApiKey, "id" | "organizationId" | "name" | "scopes" | "expiresAt"> {
  readonly text: Redacted.Redacted
}

/** An authenticated caller, with the number of its key's requests in the current clock minute, including this one. */
export interface KeyUse {
  readonly caller: Caller
  readonly count: number
  /** Database time when the request was counted, in Unix seconds with fractions. */
  readonly now: number
}

/** Stores hashes of API keys; authenticates and counts requests. */
export class ApiKeyRepository extends Context.Service<
  ApiKeyRepository,
  {
    insert(key: NewKey): Effect.Effect<ApiKey, OrganizationNotFound>
    /** Lists an organization's keys, oldest first. */
    list(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<ApiKey>>
    find(keyId: KeyId): Effect.Effect<ApiKey, KeyNotFound>
    /** Finds a key, active or not, by comparing the hash of its text; undefined if there is none. Doesn't count. */
    findByText(text: Redacted.Redacted): Effect.Effect<ApiKey | undefined>
    /**
     * Inserts a successor with the same organization, name and scopes; the old key expires after `overlapSeconds`, or earlier if it would anyway.
     *
     * Atomic; a failure changes nothing.
     */
    rotate(
      keyId: KeyId,
      successor: Pick<NewKey, "id" | "text">,
      overlapSeconds: number,
    ): Effect.Effect<ApiKey, KeyNotFound | KeyRevoked>
    /** Revokes a key immediately, for all processes. */
    revoke(keyId: KeyId): Effect.Effect<ApiKey, KeyNotFound>
    /** Authenticates the bearer and counts the request, in one statement; undefined for an unknown, expired or revoked key, without counting. */
    authenticateKey(text: string): Effect.Effect<KeyUse | undefined>
  }
>()("domain/organizations/ApiKeyRepository") {}
