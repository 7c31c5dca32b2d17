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
  /** Validated on import; an erased recipient's has an invalid check digit. */
  npi: Schema.String.pipe(Schema.brand("Npi")),
  /** Validated on import; readers don't load the validation. */
  email: Schema.String.pipe(Schema.brand("EmailAddress")),
  createdAt: Timestamp,
  /** Commit-ordered stamp of the last change; the order of the list. */
  updatedAt: Timestamp,
  sentAt: Schema.NullOr(Timestamp),
  bouncedAt: Schema.NullOr(Timestamp),
  lastEventAt: Schema.NullOr(Timestamp),
})
export type Recipient = typeof Recipient.Type

/** A recipient to add to a campaign, without the campaign's data and later data. */
export const Candidate = Recipient.mapFields(
  Struct.omit([
    ...(["organizationId", "campaignId", "programId"] as const),
    ...(["createdAt", "updatedAt", "sentAt", "bouncedAt", "lastEventAt"] as const),
  ]),
)
export type Candidate = typeof Candidate.Type & {
  /** Absent if the import has no fields. */
  readonly fields?: RecipientFields
}

/** Length of a token in base62 characters. */
export const TOKEN_LENGTH = 6
