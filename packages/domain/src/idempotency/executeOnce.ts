import { Effect } from "effect"
import { Transaction } from "../Transaction.ts"
import { IdempotencyRepository } from "./IdempotencyRepository.ts"
import { type Decision, decideExecution, type IdempotentRequest, type StoredResponse } from "./IdempotentRequest.ts"

/**
 * Executes a request, or returns the response of its first execution.
 *
 * The execution shares a transaction with the record that it happened, as far as it uses the same connections: when it fails, or
 * the process dies, neither is left. A response that is not to be kept leaves the key free.
 */
export const executeOnce = Effect.fnUntraced(function* <E, R>(
  request: IdempotentRequest,
  execute: Effect.Effect<{ readonly response: StoredResponse; readonly keep: boolean }, E, R>,
) {
  const repository = yield* IdempotencyRepository
  const transaction = yield* Transaction
  const execution = Effect.map(
    Effect.tap(execute, ({ response, keep }) => (keep ? repository.store(request, response) : Effect.void)),
    ({ response }) => ({ response, replayed: false }),
  )
  const carryOut = (decision: Decision) => {
    switch (decision.action) {
      case "execute":
        return execution
      case "replay":
        return Effect.succeed({ response: decision.response, replayed: true })
      case "reject":
        return Effect.fail(decision.error)
    }
  }

  // A repeat needs no transaction.
  const before = yield* repository.find(request)
  if (before !== undefined) return yield* carryOut(decideExecution(before, "ours"))
  return yield* transaction.run(
    Effect.gen(function* () {
      const holder = yield* repository.lock(request)
      // Another execution may have ended between the first look and the lock.
      const stored = yield* repository.find(request)
      return yield* carryOut(decideExecution(stored, holder))
    }),
  )
})
