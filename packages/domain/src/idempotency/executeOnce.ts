import { Context, Effect, Result } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"

interface IdempotentRequest {
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
interface StoredExecution {
  readonly isSame: boolean
  readonly response: StoredResponse
}

/** The owner of a key while a request runs: this request, the same request, or another request. */
type KeyHolder = "ours" | "same" | "other"

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

export class IdempotencyKeyReused extends DescribedError(
  "IdempotencyKeyReused",
  "The Idempotency-Key was given before, with another request.",
) {}

export class IdempotencyKeyInUse extends DescribedError(
  "IdempotencyKeyInUse",
  "A request with the Idempotency-Key is still running.",
) {}

/** Returns the response to repeat, depending on the stored response and the key's holder; undefined to execute the request. */
export const decideReplay = (
  stored: StoredExecution | undefined,
  holder: KeyHolder,
): Result.Result<StoredResponse | undefined, IdempotencyKeyReused | IdempotencyKeyInUse> => {
  if (stored?.isSame === true) return Result.succeed(stored.response)
  if (stored !== undefined || holder === "other") return Result.fail(new IdempotencyKeyReused())
  return holder === "ours" ? Result.succeed(undefined) : Result.fail(new IdempotencyKeyInUse())
}

/**
 * Executes a request, or returns the response of its first execution.
 *
 * The execution and its record share a transaction, as far as it uses the same connection: if it fails, or
 * the process dies, neither is stored. A response that isn't stored leaves the key unused. An organization's responses take
 * at most `maxStoredBytes`; above it, the oldest are deleted, and their keys can be used again.
 */
export const executeOnce = Effect.fnUntraced(function* <E, R>(
  request: IdempotentRequest,
  execute: Effect.Effect<{ readonly response: StoredResponse; readonly keep: boolean }, E, R>,
  { maxStoredBytes }: { readonly maxStoredBytes: number },
) {
  const repository = yield* IdempotencyRepository
  const transaction = yield* Transaction
  // A repetition needs no transaction.
  const before = yield* Effect.fromResult(decideReplay(yield* repository.find(request), "ours"))
  if (before !== undefined) return { response: before, replayed: true }
  const execution = Effect.gen(function* () {
    const holder = yield* repository.lock(request)
    // Another execution may have ended between the first read and the lock.
    const meanwhile = yield* Effect.fromResult(decideReplay(yield* repository.find(request), holder))
    if (meanwhile !== undefined) return { response: meanwhile, replayed: true }
    const { response, keep } = yield* execute
    if (keep) yield* repository.store(request, response, maxStoredBytes)
    return { response, replayed: false }
  })
  return yield* transaction.run(execution)
})
