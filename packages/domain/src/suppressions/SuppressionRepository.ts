import { Context, type Effect } from "effect"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { ProgramNotFound } from "../programs/ProgramRepository.ts"
import type { CommitTimestamp } from "../Transaction.ts"
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
