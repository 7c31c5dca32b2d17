import { Array as Arr, Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { Npi } from "../recipients/Npi.ts"
import { Transaction } from "../Transaction.ts"
import type { Suppression } from "./Suppression.ts"
import { SuppressionRepository } from "./SuppressionRepository.ts"
import { WithdrawalRepository } from "./WithdrawalRepository.ts"

const MAX_BATCH_SIZE = 200

/**
 * Withdraws the waiting recipients of all programs whom a bounce or a complaint has suppressed; returns how many suppressions are done.
 *
 * An import sees a suppression from its commit on, so nobody else can match it later. Recipients whose message is in flight are left to the
 * next call.
 */
export const withdrawSuppressed = Effect.gen(function* () {
  const waiting = yield* (yield* SuppressionRepository).findUnapplied(MAX_BATCH_SIZE)
  const groups = Arr.groupBy(waiting, ({ organizationId }) => organizationId)
  const done = yield* Effect.forEach(Object.values(groups), (group) => withdrawOf(group[0].organizationId, group))
  return done.reduce((sum, count) => sum + count, 0)
})

const withdrawOf = Effect.fnUntraced(
  function* (organizationId: OrganizationId, suppressions: ReadonlyArray<Suppression>) {
    const repository = yield* SuppressionRepository
    const withdrawals = yield* WithdrawalRepository
    if (!(yield* withdrawals.takeTurn(organizationId))) return 0
    const clinicians = suppressions.map(toClinician)
    const matches = yield* withdrawals.findMatches(organizationId, clinicians)
    const ids = new Set(matches.map(({ id }) => id))
    const inFlight = ids.size === 0 ? ids : yield* withdrawals.lock(organizationId, ids)
    const chosen = [...ids].filter((id) => !inFlight.has(id)).map((id) => ({ id, reason: "suppressed" as const }))
    if (chosen.length > 0) {
      const at = yield* (yield* Transaction).commitTimestamp(organizationId)
      yield* withdrawals.withdraw(organizationId, chosen, at)
    }
    const blocked = new Set(matches.filter(({ id }) => inFlight.has(id)).map(({ clinician }) => clinician))
    const applied = suppressions.filter((_, i) => !blocked.has(clinicians[i]!))
    yield* repository.markApplied(organizationId, applied)
    return applied.length
  },
  (effect) => Transaction.use(({ run }) => run(effect)),
)

const toClinician = ({ kind, value, programId }: Suppression) => ({
  programId,
  npi: kind === "npi" ? (value as Npi) : null,
  email: kind === "email" ? (value as EmailAddress) : null,
})
