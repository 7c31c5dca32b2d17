import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"

export interface IdempotentRequest {
  readonly organizationId: OrganizationId
  /** The caller's `Idempotency-Key`, scoped to its organization. */
  readonly key: string
  /** SHA-256 of everything that identifies the same request. */
  readonly fingerprint: Uint8Array
}

/** The exact response to a request. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** The stored response of a key; `isSame` if the same request created it, by fingerprint. */
export interface StoredExecution {
  readonly isSame: boolean
  readonly response: StoredResponse
}

/** The owner of a key while a request runs: this request, the same request, or another request. */
export type KeyHolder = "ours" | "same" | "other"

/** How long a response is repeated: 24 hours, unless its organization stores too much. */
export const RESPONSE_RETENTION_SECONDS = 86_400

/** Stores responses to requests with an `Idempotency-Key` for `RESPONSE_RETENTION_SECONDS`, up to a limit per organization. */
export class IdempotencyRepository extends Context.Service<
  IdempotencyRepository,
  {
    find(request: IdempotentRequest): Effect.Effect<StoredExecution | undefined>
    /** Locks a request's key until the transaction ends, unless a running request has it. Returns the owner. */
    lock(request: IdempotentRequest): Effect.Effect<KeyHolder>
    /** Stores a response, and deletes the organization's oldest ones above a total of `maxBytes`. */
    store(request: IdempotentRequest, response: StoredResponse, maxBytes: number): Effect.Effect<void>
  }
>()("domain/idempotency/IdempotencyRepository") {}
