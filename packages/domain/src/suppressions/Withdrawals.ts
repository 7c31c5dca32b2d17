import { Array as Arr, Context, Effect, Schedule, Schema } from "effect"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import { type ProgramNotFound, ProgramRepository } from "../programs/Programs.ts"
import type { Clinician, EmailAddress, Npi } from "../recipients/Clinician.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import { settleAll } from "../settleAll.ts"
import { type CommitTimestamp, inTransaction, Transaction } from "../Transaction.ts"
import { ErasedClinicianRepository, withoutErased } from "./ErasedClinicians.ts"
import type {
  ProgramClinician,
  Suppression,
  SuppressionKey,
  SuppressionReason,
  SuppressionScope,
  WithdrawalReason,
} from "./Suppression.ts"

export interface MatchedRecipient<Clinician extends ProgramClinician = ProgramClinician> {
  readonly id: RecipientId
  readonly clinician: Clinician
}

export interface Withdrawal {
  readonly id: RecipientId
  readonly reason: WithdrawalReason
}

/** Stores the suppressions of programs and organizations, and withdraws their recipients in one transaction per organization at a time. */
export class SuppressionRepository extends Context.Service<
  SuppressionRepository,
  {
    /** Adds entries for each clinician's NPI and e-mail address. Returns the number of new ones. */
    add(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<ProgramClinician>,
      reason: SuppressionReason,
      options?: {
        /** Whether they end when the recipient undoes an unsubscription; default false. */
        readonly byUnsubscription?: boolean
        /** Whether the transaction withdraws the waiting recipients; otherwise `findUnapplied` lists the organization's entries. Default true. */
        readonly isApplied?: boolean
      },
    ): Effect.Effect<number>
    /**
     * Removes entries of a program and its organization, or only of the organization. Returns their number. Withdrawn recipients stay
     * withdrawn; an import may add them again.
     */
    remove(scope: SuppressionScope, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<number, ProgramNotFound>
    /** Finds the entries that `remove` would remove. */
    find(
      scope: SuppressionScope,
      keys: ReadonlyArray<SuppressionKey>,
    ): Effect.Effect<ReadonlyArray<Suppression>, ProgramNotFound>
    /** Lists organizations' entries with waiting recipients that aren't withdrawn yet, oldest first. */
    findUnapplied(limit: number): Effect.Effect<ReadonlyArray<Suppression>>
    /** Marks an organization's entries: no matching recipients are waiting any more. */
    markApplied(organizationId: OrganizationId, keys: ReadonlyArray<SuppressionKey>): Effect.Effect<void>
    /** Takes the organization's withdrawal lock until the transaction ends; false if another transaction has it. */
    takeTurn(organizationId: OrganizationId): Effect.Effect<boolean>
    /** Finds the waiting recipients of clinicians, once for each clinician, in clinician order. */
    findMatches<Clinician extends ProgramClinician>(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<Clinician>,
    ): Effect.Effect<ReadonlyArray<MatchedRecipient<Clinician>>>
    findReached(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<RecipientId>>
    /** Locks recipients and their messages until the transaction ends. Returns those with a message in flight. */
    lockRecipients(
      organizationId: OrganizationId,
      recipientIds: ReadonlySet<RecipientId>,
    ): Effect.Effect<ReadonlySet<RecipientId>>
    /** Withdraws locked recipients that are still waiting, with their messages. Returns their number. */
    withdraw(
      organizationId: OrganizationId,
      withdrawals: ReadonlyArray<Withdrawal>,
      at: CommitTimestamp,
    ): Effect.Effect<number>
  }
>()("domain/suppressions/SuppressionRepository") {}

/** Maximum recipients withdrawn per transaction when programs end. */
const MAX_WITHDRAWN = 1000
/** Suppressions of organizations applied per batch. */
const SUPPRESSION_BATCH_SIZE = 200

/** Retries of withdrawals: longer than any lease of a message. */
export const WITHDRAWAL_TRIES = { schedule: Schedule.spaced("100 millis"), times: 1200 }

/** Another withdrawal, an import or a message in flight blocks a withdrawal, which may succeed later. */
export class WithdrawalConflict extends Schema.TaggedError<WithdrawalConflict>()("WithdrawalConflict", {}) {}

/**
 * Suppresses clinicians in one transaction, in a program or all programs of an organization, and withdraws their waiting recipients.
 *
 * Waits for their messages in flight: afterwards, no more e-mails are sent to them.
 */
export const suppressClinicians = Effect.fn("Withdrawals.suppressClinicians")(function* (
  scope: SuppressionScope,
  given: ReadonlyArray<Clinician>,
  reason: SuppressionReason,
  options: {
    /** Whether it ends when the recipient undoes an unsubscription; default false. */
    readonly byUnsubscription: boolean
  } = { byUnsubscription: false },
) {
  const transaction = yield* Transaction
  const suppressions = yield* SuppressionRepository
  const erasures = yield* ErasedClinicianRepository
  const { programId = null } = scope
  const { organizationId } =
    scope.programId === undefined ? scope : yield* (yield* ProgramRepository).find(scope.programId)
  const clinicians = given.map((clinician) => ({ ...clinician, programId }))
  const suppressOnce = Effect.gen(function* () {
    if (!(yield* suppressions.takeTurn(organizationId))) return yield* new WithdrawalConflict()
    // Read while holding the lock: an erasure takes it too, and its clinicians are suppressed by their hashes.
    const suppressed = withoutErased(yield* erasures.find(organizationId, clinicians), clinicians)
    const locked = new Set((yield* suppressions.findMatches(organizationId, suppressed)).map(({ id }) => id))
    if ((yield* suppressions.lockRecipients(organizationId, locked)).size > 0) return yield* new WithdrawalConflict()
    const added = yield* suppressions.add(organizationId, suppressed, reason, options)
    const at = yield* transaction.commitTimestamp(organizationId)
    yield* assertNoNewMatches(organizationId, suppressed, locked)
    const chosen = [...locked].map((id) => ({ id, reason: "suppressed" as const }))
    return { added, withdrawn: yield* suppressions.withdraw(organizationId, chosen, at) }
  })
  return yield* transaction.run(suppressOnce).pipe(Effect.retry(WITHDRAWAL_TRIES), Effect.orDie)
})

/**
 * Checks, while holding the clock, that no matching recipient was imported since recipients were locked. Afterwards this is impossible: an
 * import waits for the clock, and then sees the transaction's changes.
 */
export const assertNoNewMatches = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<ProgramClinician>,
  locked: ReadonlySet<RecipientId>,
) {
  const matches = yield* (yield* SuppressionRepository).findMatches(organizationId, clinicians)
  if (matches.some(({ id }) => !locked.has(id))) return yield* new WithdrawalConflict()
})

/**
 * Suppresses addresses in all programs of an organization; `withdrawSuppressed` withdraws the waiting recipients. Returns the number of new ones.
 *
 * Call it with the organization's clock locked, so that a recipient who was imported without seeing the suppression is already committed.
 */
export const suppressAddresses = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  emails: ReadonlyArray<Recipient["email"]>,
  reason: SuppressionReason,
) {
  if (emails.length === 0) return 0
  const clinicians = emails.map((email) => ({ programId: null, npi: null, email }))
  return yield* (yield* SuppressionRepository).add(organizationId, clinicians, reason, { isApplied: false })
})

/** Withdraws the next waiting recipients of programs that reached their quota. Returns their number. */
export const withdrawReached = Effect.fnUntraced(function* (organizationId: OrganizationId) {
  const suppressions = yield* SuppressionRepository
  if (!(yield* suppressions.takeTurn(organizationId))) return 0
  const ids = yield* suppressions.findReached(organizationId, MAX_WITHDRAWN)
  return (yield* withdrawIdle(organizationId, new Set(ids), "quota_reached")).withdrawn
}, inTransaction)

/**
 * Withdraws the waiting recipients of all programs suppressed by a bounce or a complaint. Returns the number of finished suppressions; undefined
 * if there are none.
 *
 * An import sees a suppression from its commit on, so no other recipient can match it later. Recipients with a message in flight are left to the
 * next call.
 */
export const withdrawSuppressed = Effect.gen(function* () {
  const waiting = yield* (yield* SuppressionRepository).findUnapplied(SUPPRESSION_BATCH_SIZE)
  if (waiting.length === 0) return undefined
  const groups = Arr.groupBy(waiting, ({ organizationId }) => organizationId)
  const done = yield* settleAll(Object.values(groups).map((group) => withdrawOf(group[0].organizationId, group)))
  return done.reduce((sum, count) => sum + count, 0)
})

const withdrawOf = Effect.fnUntraced(function* (organizationId: OrganizationId, waiting: ReadonlyArray<Suppression>) {
  const suppressions = yield* SuppressionRepository
  if (!(yield* suppressions.takeTurn(organizationId))) return 0
  const clinicians = waiting.map(toClinician)
  const matches = yield* suppressions.findMatches(organizationId, clinicians)
  const { inFlight } = yield* withdrawIdle(organizationId, new Set(matches.map(({ id }) => id)), "suppressed")
  const blocked = new Set(matches.filter(({ id }) => inFlight.has(id)).map(({ clinician }) => clinician))
  const applied = waiting.filter((_, i) => !blocked.has(clinicians[i]!))
  yield* suppressions.markApplied(organizationId, applied)
  return applied.length
}, inTransaction)

const toClinician = ({ kind, value, programId }: Suppression) => ({
  programId,
  npi: kind === "npi" ? (value as Npi) : null,
  email: kind === "email" ? (value as EmailAddress) : null,
})

/** Withdraws recipients except those with a message in flight, while holding the organization's lock. The clock is locked only if there are any. */
const withdrawIdle = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  ids: ReadonlySet<RecipientId>,
  reason: WithdrawalReason,
) {
  const suppressions = yield* SuppressionRepository
  const inFlight = ids.size === 0 ? ids : yield* suppressions.lockRecipients(organizationId, ids)
  const chosen = [...ids].filter((id) => !inFlight.has(id)).map((id) => ({ id, reason }))
  if (chosen.length === 0) return { inFlight, withdrawn: 0 }
  const at = yield* (yield* Transaction).commitTimestamp(organizationId)
  return { inFlight, withdrawn: yield* suppressions.withdraw(organizationId, chosen, at) }
})
