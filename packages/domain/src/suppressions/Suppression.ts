import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Clinician } from "./Clinician.ts"

// Glossary. Suppression: an NPI or an e-mail address that a program must not write to. Withdrawn: a recipient who was not written to and
// never will be. Waiting: a recipient who was neither written to nor withdrawn.

export const SUPPRESSION_KINDS = ["npi", "email"] as const
export type SuppressionKind = (typeof SUPPRESSION_KINDS)[number]

/** Why someone is suppressed: the partner has an account of theirs; they asked for no more; or an operator said so. */
export const SUPPRESSION_REASONS = ["account_created", "unsubscribed", "operator"] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** A clinician in one program; recipients match by NPI or by e-mail address. */
export interface ProgramClinician extends Clinician {
  readonly programId: ProgramId
}

/** Why a recipient is withdrawn. */
export type WithdrawalReason = "suppressed" | "learner_qualified" | "completer_qualified" | "quota_reached"

/** An entry of a program's suppression set. */
export interface Suppression {
  readonly organizationId: OrganizationId
  readonly programId: ProgramId
  readonly kind: SuppressionKind
  /** The NPI, or the e-mail address in lower case. */
  readonly value: string
  readonly reason: SuppressionReason
  readonly createdAt: Timestamp
}
