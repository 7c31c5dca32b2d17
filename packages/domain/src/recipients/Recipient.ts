import type { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { EmailAddress } from "./EmailAddress.ts"
import type { Npi } from "./Npi.ts"

/** Binds a 6-character short-link token to a clinician's NPI, an e-mail address, a campaign and a program. */
export interface Recipient {
  readonly organizationId: OrganizationId
  readonly id: RecipientId
  readonly campaignId: CampaignId
  readonly programId: ProgramId
  readonly token: string
  readonly npi: Npi
  readonly email: EmailAddress
  readonly createdAt: Timestamp
  /** The commit-ordered stamp of the last change; it orders the list feed. */
  readonly updatedAt: Timestamp
  readonly sentAt: Timestamp | null
  readonly bouncedAt: Timestamp | null
  readonly lastEventAt: Timestamp | null
}

/** The length of a token, in base62 characters. */
export const TOKEN_LENGTH = 6
