import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"

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

/** What is stored for a key; `isSame` when the same request made it, by its fingerprint. */
export interface StoredExecution {
  readonly isSame: boolean
  readonly response: StoredResponse
}

/** Whose a key is while a request runs: ours, the same request's, or another request's. */
export type KeyHolder = "ours" | "same" | "other"

/** How long a response is repeated: 24 hours, unless its organization stores too much. */
export const RESPONSE_RETENTION_SECONDS = 86_400

/** Keeps the responses to requests with an `Idempotency-Key` for `RESPONSE_RETENTION_SECONDS`, within a bound for each organization. */
export class IdempotencyRepository extends Context.Service<
  IdempotencyRepository,
  {
    find(request: IdempotentRequest): Effect.Effect<StoredExecution | undefined>
    /** Locks a request's key until the transaction ends, unless a running request holds it; returns who holds it. */
    lock(request: IdempotentRequest): Effect.Effect<KeyHolder>
    /** Stores a response, and deletes the organization's oldest ones beyond `maxBytes` of all that it stores. */
    store(request: IdempotentRequest, response: StoredResponse, maxBytes: number): Effect.Effect<void>
    readonly forgetExpired: Effect.Effect<void>
  }
>()("domain/idempotency/IdempotencyRepository") {}
