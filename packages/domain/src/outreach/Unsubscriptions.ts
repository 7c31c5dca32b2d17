import { Effect } from "effect"
import { SuppressionSet } from "../suppressions/SuppressionSet.ts"
import { UnsubscriptionLedger } from "./UnsubscriptionLedger.ts"

/** Suppressions wait for messages in flight: one must not keep all others. */
const AT_ONCE = 8
const MOST_TOGETHER = 200

/** Turns what recipients asked into suppressions by NPI and by e-mail address, for the program that wrote to them; answers how many. */
export const applyUnsubscriptions = Effect.gen(function* () {
  const ledger = yield* UnsubscriptionLedger
  const suppressions = yield* SuppressionSet
  const waiting = yield* ledger.waiting(MOST_TOGETHER)
  yield* Effect.forEach(
    waiting,
    Effect.fnUntraced(function* (unsubscription) {
      const { programId, npi, email } = unsubscription
      yield* suppressions.add(programId, [{ npi, email }], "unsubscribed")
      yield* ledger.settle(unsubscription)
    }),
    { concurrency: AT_ONCE, discard: true },
  )
  return waiting.length
}).pipe(Effect.orDie)
