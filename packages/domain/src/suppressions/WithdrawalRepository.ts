import { Context, type Effect } from "effect"
import type { OrganizationId, RecipientId } from "../Identifier.ts"
import type { CommitTimestamp } from "../Transaction.ts"
import type { ProgramClinician, WithdrawalReason } from "./Suppression.ts"

export interface MatchedRecipient<Clinician extends ProgramClinician = ProgramClinician> {
  readonly id: RecipientId
  readonly clinician: Clinician
}

export interface Withdrawal {
  readonly id: RecipientId
  readonly reason: WithdrawalReason
}

/** Withdraws recipients, in transactions of which an organization has one at a time. */
export class WithdrawalRepository extends Context.Service<
  WithdrawalRepository,
  {
    /** Takes the organization's turn to withdraw until the transaction ends; false while another transaction has it. */
    takeTurn(organizationId: OrganizationId): Effect.Effect<boolean>
    /** Finds the waiting recipients who match clinicians: once for each clinician, in the order of the clinicians. */
    findMatches<Clinician extends ProgramClinician>(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<Clinician>,
    ): Effect.Effect<ReadonlyArray<MatchedRecipient<Clinician>>>
    findReached(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<RecipientId>>
    /** Locks recipients and their messages until the transaction ends; returns whose message is in flight. */
    lock(
      organizationId: OrganizationId,
      recipientIds: ReadonlySet<RecipientId>,
    ): Effect.Effect<ReadonlySet<RecipientId>>
    /** Withdraws those that still wait, with their messages; they are locked. Returns how many. */
    withdraw(
      organizationId: OrganizationId,
      withdrawals: ReadonlyArray<Withdrawal>,
      at: CommitTimestamp,
    ): Effect.Effect<number>
  }
>()("domain/suppressions/WithdrawalRepository") {}
