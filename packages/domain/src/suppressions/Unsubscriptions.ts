import { Effect } from "effect"
import { UnsubscriptionRepository } from "./UnsubscriptionRepository.ts"
import { suppressClinicians } from "./Withdrawals.ts"

/** Suppressions wait for messages in flight: one must not keep all others. */
const SUPPRESS_CONCURRENCY = 8
const MAX_BATCH_SIZE = 200

/** Turns unsubscriptions into suppressions by NPI and e-mail address, for the program of each recipient; returns how many. */
export const applyUnsubscriptions = Effect.gen(function* () {
  const unsubscriptions = yield* UnsubscriptionRepository
  const waiting = yield* unsubscriptions.waiting(MAX_BATCH_SIZE)
  yield* Effect.forEach(
    waiting,
    Effect.fnUntraced(function* (unsubscription) {
      const { programId, npi, email } = unsubscription
      yield* suppressClinicians(programId, [{ npi, email }], "unsubscribed")
      yield* unsubscriptions.settle(unsubscription)
    }),
    { concurrency: SUPPRESS_CONCURRENCY, discard: true },
  )
  return waiting.length
}).pipe(Effect.orDie)
