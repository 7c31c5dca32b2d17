import { Context, type Effect } from "effect"
import type { IdempotentRequest, KeyHolder, StoredExecution, StoredResponse } from "./IdempotentRequest.ts"

/** Keeps the responses to requests with an `Idempotency-Key`. */
export class IdempotencyRepository extends Context.Service<
  IdempotencyRepository,
  {
    /** Finds what is stored for a request's key, unless it has expired. */
    find(request: IdempotentRequest): Effect.Effect<StoredExecution | undefined>
    /** Locks a request's key until the transaction ends, unless a running request holds it; returns who holds it. */
    lock(request: IdempotentRequest): Effect.Effect<KeyHolder>
    /** Stores the response, in place of one that has expired. */
    store(request: IdempotentRequest, response: StoredResponse): Effect.Effect<void>
    /** Deletes the responses that have expired. */
    readonly forgetExpired: Effect.Effect<void>
  }
>()("domain/idempotency/IdempotencyRepository") {}
