import { Effect } from "effect"
import { settleAll } from "../settleAll.ts"
import { UnsubscriptionRepository } from "./UnsubscriptionRepository.ts"
import { suppressClinicians } from "./Withdrawals.ts"

/** Suppressions wait for messages in flight, which must not block others. */
const SUPPRESS_CONCURRENCY = 8
const MAX_BATCH_SIZE = 200

/**
 * Applies unsubscriptions as suppressions by NPI and e-mail address, for the organization or the recipient's program, and removes
 * undone ones. Returns their number.
 */
export const applyUnsubscriptions = Effect.gen(function* () {
  const unsubscriptions = yield* UnsubscriptionRepository
  const suppress = Effect.gen(function* () {
    const waiting = yield* unsubscriptions.waiting(MAX_BATCH_SIZE)
    const settled = waiting.map(
      Effect.fnUntraced(function* (unsubscription) {
        const { organizationId, programId, scope, npi, email } = unsubscription
        const suppressed = scope === "organization" ? { organizationId } : { programId }
        yield* suppressClinicians(suppressed, [{ npi, email }], "unsubscribed", { byUnsubscription: true })
        yield* unsubscriptions.settle(unsubscription)
      }),
    )
    return (yield* settleAll(settled, { concurrency: SUPPRESS_CONCURRENCY })).length
  })
  const [lifted, suppressed] = yield* settleAll([unsubscriptions.lift(MAX_BATCH_SIZE), suppress])
  return lifted! + suppressed!
}).pipe(Effect.orDie)
