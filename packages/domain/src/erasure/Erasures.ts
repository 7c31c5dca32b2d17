import { Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { createIdentifier, type OrganizationId, type RecipientId, randomBase62 } from "../Identifier.ts"
import { applyBatch } from "../inbox/applyBatch.ts"
import type { Clinician, EmailAddress, Npi } from "../recipients/Clinician.ts"
import { RecipientRepository, TOKEN_LENGTH } from "../recipients/Recipient.ts"
import { ErasedClinicianRepository } from "../suppressions/ErasedClinicians.ts"
import { SuppressionRepository, WITHDRAWAL_TRIES, WithdrawalConflict } from "../suppressions/Withdrawals.ts"
import { Transaction } from "../Transaction.ts"
import {
  type ErasureCertificate,
  ErasureRepository,
  type ErasureState,
  placeholderOf,
  type Subject,
} from "./Erasure.ts"
import { LATER_TABLES, PERSONAL_TABLES, type PersonalDataCounts } from "./PersonalData.ts"

/** A message to the clinician is still being sent, or other work on the organization hasn't ended. */
export class ErasureBlocked extends DescribedError(
  "ErasureBlocked",
  "A message to the clinician is still being sent, or events of the partner wait to be applied; run the command again.",
) {}

/** An erasure of the clinician was interrupted. */
export class ErasureUnfinished extends DescribedError(
  "ErasureUnfinished",
  "An erasure of the clinician was cut off; run the same erasure again to finish it.",
) {}

/**
 * Counts the rows about a clinician without changes. Also returns the certificate of an earlier erasure, and the state of an interrupted
 * one, which the next erasure finishes.
 */
export const planErasure = Effect.fn("Erasures.planErasure")(function* (
  organizationId: OrganizationId,
  clinician: Clinician,
) {
  const erasures = yield* ErasureRepository
  const subject = yield* erasures.findSubject(organizationId, clinician)
  const counts: PersonalDataCounts = Object.fromEntries(
    yield* Effect.forEach(PERSONAL_TABLES, (table) =>
      Effect.map(erasures.count(subject, table), (count) => [table, count] as const),
    ),
  )
  const found = yield* findEarlier(organizationId, clinician)
  return { counts, earlier: found?.certificate, unfinished: found?.state ?? undefined }
})

const findEarlier = Effect.fnUntraced(function* (organizationId: OrganizationId, clinician: Clinician) {
  const [hash] = yield* (yield* ErasedClinicianRepository).hash(organizationId, [clinician])
  return hash === undefined ? undefined : yield* (yield* ErasureRepository).findErasure(organizationId, hash)
})

/** Fails while an interrupted erasure of a clinician is unfinished: only that erasure can find the remaining rows. */
export const assertNoUnfinishedErasure = Effect.fn("Erasures.assertNoUnfinishedErasure")(function* (
  organizationId: OrganizationId,
  clinician: Clinician,
) {
  if ((yield* findEarlier(organizationId, clinician))?.state) return yield* new ErasureUnfinished()
})

/** Who erases: the operator, the command's entry in the audit log (null without one), and the release of the service. */
interface Requested {
  readonly operator: string
  readonly command: string | null
  readonly release: string
}

/** Result of `eraseClinician`: `resumed` finished an interrupted erasure, `repeated` found no further data. */
export type ErasureOutcome = "erased" | "resumed" | "repeated"

/**
 * Erases a clinician everywhere, except for keyed hashes that continue to suppress. Returns the certificate.
 *
 * The first transaction withdraws the recipients and replaces identifying data; from then on no new data about the clinician is written.
 * Other tables follow in batches. An interrupted erasure is finished by the next one of the same clinician.
 */
export const eraseClinician = Effect.fn("Erasures.eraseClinician")(function* (
  organizationId: OrganizationId,
  clinician: Clinician,
  by: Requested,
) {
  const { counts, earlier, unfinished } = yield* planErasure(organizationId, clinician)
  const outcome = (outcome: ErasureOutcome, certificate: ErasureCertificate) => ({ outcome, certificate })
  if (earlier !== undefined && unfinished !== undefined) {
    return outcome("resumed", yield* finishErasure(unfinished, earlier.counts, by))
  }
  if (earlier !== undefined && Object.values(counts).every((count) => count === 0)) return outcome("repeated", earlier)
  const { state, done } = yield* beginErasure(organizationId, clinician, by)
  return outcome("erased", yield* finishErasure(state, done, by))
})

const beginErasure = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinician: Clinician,
  { command, ...requested }: Requested,
) {
  const transaction = yield* Transaction
  const erasures = yield* ErasureRepository
  const erased = yield* ErasedClinicianRepository
  const suppressions = yield* SuppressionRepository
  const erasureId = yield* createIdentifier("erasure")
  const begin = Effect.gen(function* () {
    if (!(yield* suppressions.takeTurn(organizationId))) return yield* new WithdrawalConflict()
    const subject = yield* erasures.findSubject(organizationId, clinician)
    const ids = new Set(subject.recipients.map(({ id }) => id))
    if ((yield* suppressions.lockRecipients(organizationId, ids)).size > 0) return yield* new WithdrawalConflict()
    const identities = [clinician, ...identitiesOf(subject)]
    yield* erased.add(organizationId, identities)
    const [hash, ...others] = yield* erased.hash(organizationId, identities)
    const placeholders = yield* createPlaceholders(subject)
    yield* erasures.eraseReplies(subject)
    const at = yield* transaction.commitTimestamp(organizationId)
    // A recipient imported in the meantime repeats the erasure; later imports find the hashes.
    const again = yield* erasures.findSubject(organizationId, clinician)
    if (again.recipients.some(({ id }) => !ids.has(id))) return yield* new WithdrawalConflict()
    const done = yield* erasures.eraseAtOnce(subject, placeholders, at)
    const state = { ...subject, erasureId, placeholders }
    const hashes = [...new Set([hash!, ...others])]
    const certificate = { ...requested, erasureId, organizationId, subject: hash!, hashes, counts: done }
    yield* erasures.begin({ ...certificate, commands: command === null ? [] : [command] }, state)
    return { state, done }
  })
  return yield* transaction.run(begin).pipe(
    Effect.retry({ ...WITHDRAWAL_TRIES, while: ({ _tag }) => _tag === "WithdrawalConflict" }),
    Effect.catchTag("WithdrawalConflict", () => new ErasureBlocked()),
  )
})

const finishErasure = Effect.fnUntraced(function* (state: ErasureState, done: PersonalDataCounts, by: Requested) {
  const erasures = yield* ErasureRepository
  yield* erasures.forgetEvents
  yield* applyWaiting(state)
  for (const table of LATER_TABLES) {
    if (done[table] !== undefined) continue
    yield* erasures.progress(state, table, yield* erasures.erase(state, table))
  }
  // Last, because requests may read and store the data until it is erased.
  yield* erasures.eraseResponses(state.organizationId)
  return yield* erasures.finish(state, by.command)
})

/** Applies the partner's earlier events about the clinician, so that its counts are correct; their data is erased in the process. */
const applyWaiting = Effect.fnUntraced(
  function* (state: ErasureState) {
    if ((yield* (yield* ErasureRepository).countWaiting(state)) === 0) return
    yield* applyBatch(state.organizationId)
    return yield* new WithdrawalConflict()
  },
  Effect.retry(WITHDRAWAL_TRIES),
  Effect.catchTag("WithdrawalConflict", () => new ErasureBlocked()),
)

/**
 * Erases recipients after their retention, at most a few hundred per transaction. Returns their number.
 *
 * This suppresses no one, and earlier suppressions stay. Excludes recipients with a message in flight or a pending unsubscription.
 */
export const eraseRecipients = Effect.fn("Erasures.eraseRecipients")(function* (
  organizationId: OrganizationId,
  recipientIds: ReadonlyArray<RecipientId>,
) {
  const transaction = yield* Transaction
  const erasures = yield* ErasureRepository
  const suppressions = yield* SuppressionRepository
  const erase = Effect.gen(function* () {
    const inFlight = yield* suppressions.lockRecipients(organizationId, new Set(recipientIds))
    const subject = yield* erasures.findRecipients(
      organizationId,
      recipientIds.filter((id) => !inFlight.has(id)),
    )
    if (subject.recipients.length === 0) return 0
    const placeholders = yield* createPlaceholders(subject)
    yield* erasures.eraseReplies(subject)
    for (const table of ["events", "hits"] as const) yield* erasures.erase({ ...subject, placeholders }, table)
    // Last, because this locks the organization's clock until the end.
    yield* erasures.eraseAtOnce(subject, placeholders, yield* transaction.commitTimestamp(organizationId))
    return subject.recipients.length
  })
  return yield* transaction.run(erase)
})

const identitiesOf = ({ npis, emails }: Subject): ReadonlyArray<Clinician> => [
  ...npis.map((npi) => ({ npi: npi as Npi, email: null })),
  ...emails.map((email) => ({ npi: null, email: email as EmailAddress })),
]

const createPlaceholders = Effect.fnUntraced(function* ({ organizationId, recipients }: Subject) {
  if (recipients.length === 0) return []
  const first = yield* (yield* ErasureRepository).reservePlaceholders(organizationId, recipients.length)
  const findIds = (yield* RecipientRepository).findIds
  let tokens: ReadonlyArray<string>
  do tokens = yield* Effect.forEach(recipients, () => randomBase62(TOKEN_LENGTH))
  while (new Set(tokens).size < tokens.length || (yield* findIds(organizationId, tokens)).size > 0)
  return recipients.map(({ id }, i) => ({ id, token: tokens[i]!, ...placeholderOf(first + i) }))
})
