import type { BounceReason } from "@outreach/contract"
import { Schema } from "effect"
import { OrganizationId, ProgramId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import type { Clinician } from "./Clinician.ts"

// Glossary. Suppression: an NPI or an e-mail address that a program, or every program of an organization, must not write to. Withdrawn: a
// recipient who was not written to and never will be. Waiting: a recipient who was neither written to nor withdrawn.

export const SUPPRESSION_KINDS = ["npi", "email"] as const

/**
 * Why someone is suppressed: they have an account with the partner; they unsubscribed; an operator said so; their address does not
 * exist or takes no mail; or they reported a message as unwanted.
 */
export const SUPPRESSION_REASONS = ["account_created", "unsubscribed", "operator", "bounced", "complained"] as const
export type SuppressionReason = (typeof SUPPRESSION_REASONS)[number]

/** The bounces after which an address is suppressed; after `other` it may take mail again. */
const HARD_BOUNCES: ReadonlyArray<BounceReason> = [
  "mailbox_not_found",
  "mailbox_disabled",
  "domain_not_found",
  "address_invalid",
]

export const isHardBounce = (reason: BounceReason): boolean => HARD_BOUNCES.includes(reason)

/** A clinician in one program, or in every program of an organization; recipients match by NPI or by e-mail address. */
export interface ProgramClinician extends Clinician {
  /** Null for every program of the organization, also those to come. */
  readonly programId: ProgramId | null
}

/** What an operator suppresses or lifts: in one program, or in every program of an organization, also those to come. */
export type SuppressionScope =
  | { readonly programId: ProgramId; readonly organizationId?: undefined }
  | { readonly organizationId: OrganizationId; readonly programId?: undefined }

/** Reports whether a reason binds in a scope: an account in its program, a bounce and a complaint in the whole organization. */
export const isReasonIn = (scope: SuppressionScope, reason: SuppressionReason): boolean =>
  scope.programId === undefined ? reason !== "account_created" : !["bounced", "complained"].includes(reason)

export const suppressionKeys = ({ npi, email }: Clinician): ReadonlyArray<SuppressionKey> => [
  ...(npi === null ? [] : [{ kind: "npi" as const, value: npi }]),
  ...(email === null ? [] : [{ kind: "email" as const, value: email }]),
]

export type WithdrawalReason = "suppressed" | "learner_qualified" | "completer_qualified" | "quota_reached"

/** An entry of a program's suppression set, or of its organization's. */
export const Suppression = Schema.Struct({
  organizationId: OrganizationId,
  /** Null for every program of the organization. */
  programId: Schema.NullOr(ProgramId),
  kind: Schema.Literals(SUPPRESSION_KINDS),
  /** The NPI, or the e-mail address in lower case. */
  value: Schema.String,
  reason: Schema.Literals(SUPPRESSION_REASONS),
  createdAt: Timestamp,
})
export type Suppression = typeof Suppression.Type

export type SuppressionKey = Pick<Suppression, "kind" | "value">
