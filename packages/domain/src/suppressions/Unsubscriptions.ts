import { Effect } from "effect"
import { SuppressionRepository } from "./SuppressionRepository.ts"
import { UnsubscriptionRepository } from "./UnsubscriptionRepository.ts"

/** Suppressions wait for messages in flight: one must not keep all others. */
const AT_ONCE = 8
const MAX_BATCH_SIZE = 200

/** Turns what recipients asked into suppressions by NPI and by e-mail address, for the program that wrote to them; answers how many. */
export const applyUnsubscriptions = Effect.gen(function* () {
  const unsubscriptions = yield* UnsubscriptionRepository
  const suppressions = yield* SuppressionRepository
  const waiting = yield* unsubscriptions.waiting(MAX_BATCH_SIZE)
  yield* Effect.forEach(
    waiting,
    Effect.fnUntraced(function* (unsubscription) {
      const { programId, npi, email } = unsubscription
      yield* suppressions.add(programId, [{ npi, email }], "unsubscribed")
      yield* unsubscriptions.settle(unsubscription)
    }),
    { concurrency: AT_ONCE, discard: true },
  )
  return waiting.length
}).pipe(Effect.orDie)
