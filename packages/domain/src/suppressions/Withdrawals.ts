import { Array as Arr, Effect, Schedule, Schema } from "effect"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import { ProgramRepository } from "../programs/ProgramRepository.ts"
import type { EmailAddress } from "../recipients/EmailAddress.ts"
import type { Npi } from "../recipients/Npi.ts"
import { settleAll } from "../settleAll.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import type { Clinician } from "./Clinician.ts"
import { ErasedClinicianRepository, withoutErased } from "./ErasedClinicianRepository.ts"
import type {
  ProgramClinician,
  Suppression,
  SuppressionReason,
  SuppressionScope,
  WithdrawalReason,
} from "./Suppression.ts"
import { SuppressionRepository } from "./SuppressionRepository.ts"
import { WithdrawalRepository } from "./WithdrawalRepository.ts"

/** The most recipients that the end of programs withdraws in a transaction. */
const MAX_WITHDRAWN = 1000
/** How many suppressions of organizations are applied at once. */
const SUPPRESSION_BATCH_SIZE = 200

/** How often withdrawals are tried: for longer than any lease of a message. */
export const WITHDRAWAL_TRIES = { schedule: Schedule.spaced("100 millis"), times: 1200 }

/** Another withdrawal, an import or a message in flight is in the way of a withdrawal, which may succeed later. */
export class WithdrawalConflict extends Schema.TaggedError<WithdrawalConflict>()("WithdrawalConflict", {}) {}

/**
 * Suppresses clinicians in one transaction, in a program or in every program of an organization, and withdraws the waiting recipients that they match.
 *
 * Waits for the messages that are in flight to them: when it is done, nothing will be sent to them any more.
 */
export const suppressClinicians = Effect.fn("Withdrawals.suppressClinicians")(function* (
  scope: SuppressionScope,
  given: ReadonlyArray<Clinician>,
  reason: SuppressionReason,
  options: {
    /** Whether it is lifted when the recipient takes an unsubscription here back; default false. */
    readonly byUnsubscription: boolean
  } = { byUnsubscription: false },
) {
  const transaction = yield* Transaction
  const suppressions = yield* SuppressionRepository
  const withdrawals = yield* WithdrawalRepository
  const erasures = yield* ErasedClinicianRepository
  const { programId = null } = scope
  const { organizationId } =
    scope.programId === undefined ? scope : yield* (yield* ProgramRepository).find(scope.programId)
  const clinicians = given.map((clinician) => ({ ...clinician, programId }))
  const suppressOnce = Effect.gen(function* () {
    if (!(yield* withdrawals.takeTurn(organizationId))) return yield* new WithdrawalConflict()
    // Read with the turn in hand: an erasure takes the turn as well, and its clinicians are suppressed by their hashes.
    const suppressed = withoutErased(yield* erasures.find(organizationId, clinicians), clinicians)
    const locked = new Set((yield* withdrawals.findMatches(organizationId, suppressed)).map(({ id }) => id))
    if ((yield* withdrawals.lock(organizationId, locked)).size > 0) return yield* new WithdrawalConflict()
    const added = yield* suppressions.add(organizationId, suppressed, reason, options)
    const at = yield* transaction.commitTimestamp(organizationId)
    yield* assertNoNewMatches(organizationId, suppressed, locked)
    const chosen = [...locked].map((id) => ({ id, reason: "suppressed" as const }))
    return { added, withdrawn: yield* withdrawals.withdraw(organizationId, chosen, at) }
  })
  return yield* transaction.run(suppressOnce).pipe(Effect.retry(WITHDRAWAL_TRIES), Effect.orDie)
})

/**
 * Makes sure, with the clock in hand, that no recipient who matches was imported since recipients were locked. From then on none can be: an
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

/** Withdraws the next waiting recipients of the programs that reached their quota; returns how many. */
export const withdrawReached = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const withdrawals = yield* WithdrawalRepository
  if (!(yield* withdrawals.takeTurn(organizationId))) return 0
  const ids = yield* withdrawals.findReached(organizationId, MAX_WITHDRAWN)
  return (yield* withdrawIdle(organizationId, new Set(ids), "quota_reached")).withdrawn
}, inTransaction)

/**
 * Withdraws the waiting recipients of all programs that a bounce or a complaint has suppressed; returns how many suppressions are done.
 *
 * An import sees a suppression from its commit on, so no other recipient can match it later. Recipients whose message is in flight are left to the
 * next call.
 */
export const withdrawSuppressed = Effect.gen(function* () {
  const waiting = yield* (yield* SuppressionRepository).findUnapplied(SUPPRESSION_BATCH_SIZE)
  const groups = Arr.groupBy(waiting, ({ organizationId }) => organizationId)
  const done = yield* settleAll(Object.values(groups).map((group) => withdrawOf(group[0].organizationId, group)))
  return done.reduce((sum, count) => sum + count, 0)
})

const withdrawOf = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  suppressions: ReadonlyArray<Suppression>,
) {
  const withdrawals = yield* WithdrawalRepository
  if (!(yield* withdrawals.takeTurn(organizationId))) return 0
  const clinicians = suppressions.map(toClinician)
  const matches = yield* withdrawals.findMatches(organizationId, clinicians)
  const { inFlight } = yield* withdrawIdle(organizationId, new Set(matches.map(({ id }) => id)), "suppressed")
  const blocked = new Set(matches.filter(({ id }) => inFlight.has(id)).map(({ clinician }) => clinician))
  const applied = suppressions.filter((_, i) => !blocked.has(clinicians[i]!))
  yield* (yield* SuppressionRepository).markApplied(organizationId, applied)
  return applied.length
}, inTransaction)

const toClinician = ({ kind, value, programId }: Suppression) => ({
  programId,
  npi: kind === "npi" ? (value as Npi) : null,
  email: kind === "email" ? (value as EmailAddress) : null,
})

/** Withdraws recipients except those whose message is in flight, with the organization's turn in hand. The clock is taken only if any is left. */
const withdrawIdle = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  ids: ReadonlySet<RecipientId>,
  reason: WithdrawalReason,
) {
  const withdrawals = yield* WithdrawalRepository
  const inFlight = ids.size === 0 ? ids : yield* withdrawals.lock(organizationId, ids)
  const chosen = [...ids].filter((id) => !inFlight.has(id)).map((id) => ({ id, reason }))
  if (chosen.length === 0) return { inFlight, withdrawn: 0 }
  const at = yield* (yield* Transaction).commitTimestamp(organizationId)
  return { inFlight, withdrawn: yield* withdrawals.withdraw(organizationId, chosen, at) }
})
