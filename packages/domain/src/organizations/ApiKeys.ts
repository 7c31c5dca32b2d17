import type { Scope } from "@outreach/contract"
import { Clock, Effect, Redacted } from "effect"
import { Deployment } from "../Deployment.ts"
import { DescribedError } from "../DescribedError.ts"
import { createIdentifier, type KeyId, type OrganizationId } from "../Identifier.ts"
import { randomBase62 } from "../randomBase62.ts"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import { type ApiKey, apiKeyText } from "./ApiKey.ts"
import { ApiKeyRepository } from "./ApiKeyRepository.ts"

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
