import { Effect, Schedule, Schema } from "effect"
import type { OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { ProgramRepository } from "../programs/ProgramRepository.ts"
import { Transaction } from "../Transaction.ts"
import type { Clinician } from "./Clinician.ts"
import { ErasedClinicianRepository } from "./ErasedClinicianRepository.ts"
import { withoutErased } from "./ErasedClinicians.ts"
import type { ProgramClinician, SuppressionReason, SuppressionScope } from "./Suppression.ts"
import { SuppressionRepository } from "./SuppressionRepository.ts"
import { WithdrawalRepository } from "./WithdrawalRepository.ts"

/** The most recipients that the end of programs withdraws in a transaction. */
const MAX_WITHDRAWN = 1000

/** How often withdrawals are tried: for longer than any lease of a message. */
export const WITHDRAWAL_TRIES = { schedule: Schedule.spaced("100 millis"), times: 1200 }

/** Another withdrawal, an import or a message in flight is in the way of a withdrawal, which may succeed later. */
export class WithdrawalConflict extends Schema.TaggedError<WithdrawalConflict>()("WithdrawalConflict", {}) {}

/**
 * Suppresses clinicians in one transaction, and withdraws the waiting recipients of the program whom they match.
 *
 * Waits for the messages that are in flight to them: when it is done, nothing will be sent to them any more.
 */
export const suppressClinicians = Effect.fn("Withdrawals.suppressClinicians")(function* (
  programId: ProgramId,
  clinicians: ReadonlyArray<Clinician>,
  reason: SuppressionReason,
) {
  const { organizationId } = yield* (yield* ProgramRepository).find(programId)
  return yield* suppress(
    organizationId,
    clinicians.map((clinician) => ({ ...clinician, programId })),
    reason,
  )
})

/** Suppresses clinicians in every program of an organization, also those to come; like `suppressClinicians`. */
export const suppressInOrganization = Effect.fn("Withdrawals.suppressInOrganization")(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<Clinician>,
  reason: SuppressionReason,
) {
  return yield* suppress(
    organizationId,
    clinicians.map((clinician) => ({ ...clinician, programId: null })),
    reason,
  )
})

/** Suppresses clinicians as an operator, in a program or in all of an organization; like `suppressClinicians`. */
export const suppressByOperator = (scope: SuppressionScope, clinicians: ReadonlyArray<Clinician>) =>
  scope.programId === undefined
    ? suppressInOrganization(scope.organizationId, clinicians, "operator")
    : suppressClinicians(scope.programId, clinicians, "operator")

const suppress = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<ProgramClinician>,
  reason: SuppressionReason,
) {
  const transaction = yield* Transaction
  const suppressions = yield* SuppressionRepository
  const withdrawals = yield* WithdrawalRepository
  const erasures = yield* ErasedClinicianRepository
  const suppressOnce = Effect.gen(function* () {
    if (!(yield* withdrawals.takeTurn(organizationId))) return yield* new WithdrawalConflict()
    // Read with the turn in hand: an erasure takes the turn as well, and its clinicians are suppressed by their hashes.
    const suppressed = withoutErased(yield* erasures.find(organizationId, clinicians), clinicians)
    const locked = new Set((yield* withdrawals.findMatches(organizationId, suppressed)).map(({ id }) => id))
    if ((yield* withdrawals.lock(organizationId, locked)).size > 0) return yield* new WithdrawalConflict()
    const added = yield* suppressions.add(organizationId, suppressed, reason)
    const at = yield* transaction.commitTimestamp(organizationId)
    yield* assertNoNewMatches(organizationId, suppressed, locked)
    const chosen = [...locked].map((id) => ({ id, reason: "suppressed" as const }))
    return { added, withdrawn: yield* withdrawals.withdraw(organizationId, chosen, at) }
  })
  return yield* transaction.run(suppressOnce).pipe(Effect.retry(WITHDRAWAL_TRIES), Effect.orDie)
})

/** Withdraws the next waiting recipients of the programs that reached their quota; returns how many. */
export const withdrawReached = Effect.fnUntraced(
  function* (organizationId: OrganizationId) {
    const withdrawals = yield* WithdrawalRepository
    if (!(yield* withdrawals.takeTurn(organizationId))) return 0
    const ids = yield* withdrawals.findReached(organizationId, MAX_WITHDRAWN)
    if (ids.length === 0) return 0
    const inFlight = yield* withdrawals.lock(organizationId, new Set(ids))
    const chosen = ids.filter((id) => !inFlight.has(id)).map((id) => ({ id, reason: "quota_reached" as const }))
    if (chosen.length === 0) return 0
    const at = yield* (yield* Transaction).commitTimestamp(organizationId)
    return yield* withdrawals.withdraw(organizationId, chosen, at)
  },
  (effect) => Transaction.use(({ run }) => run(effect)),
)

/**
 * Makes sure, with the clock in hand, that nobody who matches was imported since recipients were locked. From then on nobody can be: an
 * import waits for the clock, and then sees what the transaction wrote.
 */
export const assertNoNewMatches = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<ProgramClinician>,
  locked: ReadonlySet<RecipientId>,
) {
  const matches = yield* (yield* WithdrawalRepository).findMatches(organizationId, clinicians)
  if (matches.some(({ id }) => !locked.has(id))) return yield* new WithdrawalConflict()
})
