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

/** A recognised caller, and how many requests its key has made in the current clock minute, this one included. */
export interface KeyUse {
  readonly caller: Caller
  readonly count: number
  /** The database's clock when the request was counted, in Unix seconds with fractions. */
  readonly now: number
}

/** Keeps API keys as hashes, and recognises and counts those who present them. */
export class ApiKeyRepository extends Context.Service<
  ApiKeyRepository,
  {
    insert(key: NewKey): Effect.Effect<ApiKey, OrganizationNotFound>
    /** Lists an organization's keys, oldest first. */
    list(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<ApiKey>>
    find(keyId: KeyId): Effect.Effect<ApiKey, KeyNotFound>
    /** Finds a key, also one that has ended, by its text, of which only the hash is compared; undefined if there is none. Nothing is counted. */
    findByText(text: Redacted.Redacted): Effect.Effect<ApiKey | undefined>
    /**
     * Inserts a successor with the same organization, name and scopes, and ends the old key after `overlapSeconds`, or earlier if it would anyway.
     *
     * Both happen in one commit; a failure changes nothing.
     */
    rotate(
      keyId: KeyId,
      successor: Pick<NewKey, "id" | "text">,
      overlapSeconds: number,
    ): Effect.Effect<ApiKey, KeyNotFound | KeyRevoked>
    /** Ends a key now; every process refuses it from its next request on. */
    revoke(keyId: KeyId): Effect.Effect<ApiKey, KeyNotFound>
    /** Recognises the bearer and counts the request, in one statement; undefined for an unknown, expired or revoked key, which nobody is charged for. */
    authenticateKey(text: string): Effect.Effect<KeyUse | undefined>
    readonly forgetWindows: Effect.Effect<void>
  }
>()("domain/organizations/ApiKeyRepository") {}
