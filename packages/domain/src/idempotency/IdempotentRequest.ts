import { Schema } from "effect"
import type { OrganizationId } from "../Identifier.ts"

/** A request that is to be executed once. */
export interface IdempotentRequest {
  readonly organizationId: OrganizationId
  /** The caller's `Idempotency-Key`; another organization's equal key is another key. */
  readonly key: string
  /** SHA-256 of all that makes it the same request. */
  readonly fingerprint: Uint8Array
}

/** The response to a request, to the byte. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** How long a response is repeated: 24 hours. */
export const RESPONSE_RETENTION_SECONDS = 86_400

/** The key was given before, with another request. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {}) {
  override readonly message = "The Idempotency-Key was given before, with another request."
}

/** A request with the key is still running. */
export class IdempotencyKeyInUse extends Schema.TaggedError<IdempotencyKeyInUse>()("IdempotencyKeyInUse", {}) {
  override readonly message = "A request with the Idempotency-Key is still running."
}

/** What is stored for a key. */
export interface StoredExecution {
  /** Whether it was made by the same request, by its fingerprint. */
  readonly isSame: boolean
  readonly response: StoredResponse
}

/** Whose a key is while a request runs: ours, the same request's, or another request's. */
export type KeyHolder = "ours" | "same" | "other"

/** What is to be done with a request. */
export type Decision =
  | { readonly action: "execute" }
  | { readonly action: "replay"; readonly response: StoredResponse }
  | { readonly action: "reject"; readonly error: IdempotencyKeyReused | IdempotencyKeyInUse }

/** Decides what is to be done with a request, by what is stored for its key, and by who holds the key. */
export const decideExecution = (stored: StoredExecution | undefined, holder: KeyHolder): Decision => {
  if (stored?.isSame === true) return { action: "replay", response: stored.response }
  if (stored !== undefined || holder === "other") return { action: "reject", error: new IdempotencyKeyReused() }
  return holder === "ours" ? { action: "execute" } : { action: "reject", error: new IdempotencyKeyInUse() }
}
