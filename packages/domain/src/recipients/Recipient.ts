import { Schema, Struct } from "effect"
import { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import type { RecipientFields } from "./RecipientFields.ts"

/** Binds a 6-character short-link token to a clinician's NPI, an e-mail address, a campaign and a program. */
export const Recipient = Schema.Struct({
  organizationId: OrganizationId,
  id: RecipientId,
  campaignId: CampaignId,
  programId: ProgramId,
  token: Schema.String,
  /** Checked when it is imported: that of an erased recipient fails its check digit. */
  npi: Schema.String.pipe(Schema.brand("Npi")),
  /** Checked when it is imported; the check is not loaded by those who read recipients alone. */
  email: Schema.String.pipe(Schema.brand("EmailAddress")),
  createdAt: Timestamp,
  /** The commit-ordered stamp of the last change; it orders the list feed. */
  updatedAt: Timestamp,
  sentAt: Schema.NullOr(Timestamp),
  bouncedAt: Schema.NullOr(Timestamp),
  lastEventAt: Schema.NullOr(Timestamp),
})
export type Recipient = typeof Recipient.Type

/** A recipient about to be added to a campaign: without what its campaign says, and what is known only later. */
export const Candidate = Recipient.mapFields(
  Struct.omit([
    ...(["organizationId", "campaignId", "programId"] as const),
    ...(["createdAt", "updatedAt", "sentAt", "bouncedAt", "lastEventAt"] as const),
  ]),
)
export type Candidate = typeof Candidate.Type & {
  /** Absent when the import takes no fields. */
  readonly fields?: RecipientFields
}

/** The length of a token, in base62 characters. */
export const TOKEN_LENGTH = 6
