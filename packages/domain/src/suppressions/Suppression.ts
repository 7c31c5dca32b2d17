import type { BounceReason } from "@outreach/contract"
import { Schema } from "effect"
import { OrganizationId, ProgramId } from "../Identifier.ts"
import type { Clinician } from "../recipients/Clinician.ts"
import { Timestamp } from "../Timestamp.ts"

// Glossary. Suppression: an NPI or e-mail address that a program, or all programs of an organization, must not contact. Withdrawn: a
// recipient who wasn't contacted and never will be. Waiting: a recipient who was neither contacted nor withdrawn.

export const SUPPRESSION_KINDS = ["npi", "email"] as const

/**
 * Reason of a suppression: an account with the partner, an unsubscription, an operator's decision, an address that doesn't
 * exist or accepts no mail, or a complaint.
 */
export const SUPPRESSION_REASONS = ["account_created", "unsubscribed", "operator", "bounced", "complained"] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** Bounces that suppress an address; after `other` it may accept mail again. */
const HARD_BOUNCES: ReadonlyArray<BounceReason> = [
  "mailbox_not_found",
  "mailbox_disabled",
  "domain_not_found",
  "address_invalid",
]

export const isHardBounce = (reason: BounceReason): boolean => HARD_BOUNCES.includes(reason)

/** A clinician in one program, or in all programs of an organization; recipients match by NPI or e-mail address. */
export interface ProgramClinician extends Clinician {
  /** Null for all programs of the organization, including future ones. */
  readonly programId: ProgramId | null
}

/** Scope of an operator's suppression: one program, or all programs of an organization, including future ones. */
export type SuppressionScope =
  | { readonly programId: ProgramId; readonly organizationId?: undefined }
  | { readonly organizationId: OrganizationId; readonly programId?: undefined }

/** Returns whether a reason applies in a scope: an account in its program, a bounce or complaint in the whole organization. */
export const isReasonIn = (scope: SuppressionScope, reason: SuppressionReason): boolean =>
  scope.programId === undefined ? reason !== "account_created" : !["bounced", "complained"].includes(reason)

export const suppressionKeys = ({ npi, email }: Clinician): ReadonlyArray<SuppressionKey> => [
  ...(npi === null ? [] : [{ kind: "npi" as const, value: npi }]),
  ...(email === null ? [] : [{ kind: "email" as const, value: email }]),
]

export type WithdrawalReason = "suppressed" | "learner_qualified" | "completer_qualified" | "quota_reached"

/** A suppression of a program or an organization. */
export const Suppression = Schema.Struct({
  organizationId: OrganizationId,
  /** Null for all programs of the organization. */
  programId: Schema.NullOr(ProgramId),
  kind: Schema.Literals(SUPPRESSION_KINDS),
  /** NPI, or lowercase e-mail address. */
  value: Schema.String,
  reason: Schema.Literals(SUPPRESSION_REASONS),
  createdAt: Timestamp,
})
export type Suppression = typeof Suppression.Type

export type SuppressionKey = Pick<Suppression, "kind" | "value">
