import type { Scope } from "@outreach/contract"
import { Clock, Context, Effect, Redacted } from "effect"
import { Deployment } from "../Deployment.ts"
import { DescribedError } from "../DescribedError.ts"
import { createIdentifier, type KeyId, type OrganizationId, randomBase62 } from "../Identifier.ts"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import { type ApiKey, apiKeyText, type Caller } from "./ApiKey.ts"
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

/** A newly issued key: its text can't be read again. */
export interface IssuedKey {
  readonly key: ApiKey
  readonly text: Redacted.Redacted
}

export class ExpiryPassed extends DescribedError(
  "ExpiryPassed",
  "The key would have expired at {expiresAt}; choose a time in the future.",
) {}

export const issueKey = Effect.fn("ApiKeys.issueKey")(function* (request: {
  readonly organizationId: OrganizationId
  readonly name: string
  readonly scopes: ReadonlyArray<Scope>
  readonly expiresAt: Timestamp | null
}) {
  const { expiresAt } = request
  if (expiresAt !== null && expiresAt <= fromUnixMillis(yield* Clock.currentTimeMillis)) {
    return yield* new ExpiryPassed({ expiresAt })
  }
  const drawn = yield* drawKey
  const key = yield* (yield* ApiKeyRepository).insert({ ...request, ...drawn })
  return { key, text: drawn.text } satisfies IssuedKey
})

export const rotateKey = Effect.fn("ApiKeys.rotateKey")(function* (keyId: KeyId, overlapSeconds: number) {
  const drawn = yield* drawKey
  const key = yield* (yield* ApiKeyRepository).rotate(keyId, drawn, overlapSeconds)
  return { key, text: drawn.text } satisfies IssuedKey
})

const drawKey = Effect.gen(function* () {
  const { livemode } = yield* Deployment
  const id = yield* createIdentifier("key")
  return { id, text: Redacted.make(apiKeyText(livemode, yield* randomBase62(30))) }
})
