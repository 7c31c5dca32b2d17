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

/** Withdraws recipients, in one transaction per organization at a time. */
export class WithdrawalRepository extends Context.Service<
  WithdrawalRepository,
  {
    /** Takes the organization's withdrawal lock until the transaction ends; false if another transaction has it. */
    takeTurn(organizationId: OrganizationId): Effect.Effect<boolean>
    /** Finds the waiting recipients of clinicians, once for each clinician, in clinician order. */
    findMatches<Clinician extends ProgramClinician>(
      organizationId: OrganizationId,
      clinicians: ReadonlyArray<Clinician>,
    ): Effect.Effect<ReadonlyArray<MatchedRecipient<Clinician>>>
    findReached(organizationId: OrganizationId, limit: number): Effect.Effect<ReadonlyArray<RecipientId>>
    /** Locks recipients and their messages until the transaction ends. Returns those with a message in flight. */
    lock(
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
>()("domain/suppressions/WithdrawalRepository") {}
