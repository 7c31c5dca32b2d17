import { Context, type Effect, Schema } from "effect"
import type { OrganizationId } from "../Identifier.ts"

/** The key was given before, with another request. */
export class IdempotencyKeyReused extends Schema.TaggedError<IdempotencyKeyReused>()("IdempotencyKeyReused", {}) {
  override readonly message = "The Idempotency-Key was given before, with another request."
}

/** A request with the key is still running. */
export class IdempotencyKeyInUse extends Schema.TaggedError<IdempotencyKeyInUse>()("IdempotencyKeyInUse", {}) {
  override readonly message = "A request with the Idempotency-Key is still running."
}

/** A request that is to be executed once. */
export interface IdempotentRequest {
  readonly organizationId: OrganizationId
  /** The caller's `Idempotency-Key`; another organization's equal key is another key. */
  readonly key: string
  /** SHA-256 of all that makes it the same request. */
  readonly fingerprint: Uint8Array
}

/** What a request was answered, to the byte. */
export interface StoredResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

/** Remembers for 24 hours what requests with an `Idempotency-Key` were answered. */
export class IdempotencyRepository extends Context.Service<
  IdempotencyRepository,
  {
    /**
     * Executes a request, or answers what its first execution was answered.
     *
     * The execution shares a transaction with the record that it happened, as far as it uses the same connections: when it fails, or
     * the process dies, neither is left. An answer that is not to be kept leaves the key free.
     */
    once<E, R>(
      request: IdempotentRequest,
      execute: Effect.Effect<{ readonly answer: StoredResponse; readonly keep: boolean }, E, R>,
    ): Effect.Effect<
      { readonly answer: StoredResponse; readonly replayed: boolean },
      E | IdempotencyKeyReused | IdempotencyKeyInUse,
      R
    >
    /** Drops the records that are over. */
    readonly forgetExpired: Effect.Effect<void>
  }
>()("domain/idempotency/IdempotencyRepository") {}
