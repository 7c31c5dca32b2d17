import { Context, type Effect, Schema, Struct } from "effect"
import { CampaignId, OrganizationId, ProgramId, RecipientId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import type { CommitTimestamp, ListPage } from "../Transaction.ts"
import type { Npi } from "./Clinician.ts"
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
  /** Validated on import. */
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

/** Position in the list of recipients: the last row read. */
export type RecipientPosition = Pick<Recipient, "updatedAt" | "id">

/** Position before the recipients updated at a time or later. */
export const recipientsFrom = (since: Timestamp): RecipientPosition => ({ updatedAt: since, id: "" as RecipientId })

export class RecipientRepository extends Context.Service<
  RecipientRepository,
  {
    find(organizationId: OrganizationId, token: string): Effect.Effect<Recipient | undefined>
    /** Finds an organization's recipients by id, in one query. */
    findAll(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
    ): Effect.Effect<ReadonlyMap<RecipientId, Recipient>>
    findIds(
      organizationId: OrganizationId,
      tokens: ReadonlyArray<string>,
    ): Effect.Effect<ReadonlyMap<string, RecipientId>>
    /** Finds a campaign's recipients with one of these NPIs or e-mail addresses, ignoring case. */
    findSameClinicians(
      campaign: Pick<Recipient, "organizationId" | "campaignId">,
      clinicians: ReadonlyArray<Pick<Recipient, "npi" | "email">>,
    ): Effect.Effect<ReadonlyArray<Pick<Recipient, "npi" | "email">>>
    /** Adds recipients to a campaign, except those with an existing token, NPI or e-mail address. Returns the added ids. */
    add(
      campaign: Pick<Recipient, "organizationId" | "campaignId" | "programId">,
      candidates: ReadonlyArray<Candidate>,
      at: CommitTimestamp,
    ): Effect.Effect<ReadonlySet<RecipientId>>
    /**
     * Replaces the fields of a campaign's waiting recipients. Returns the NPIs of those with
     * changed fields. A message quarantined because it didn't render is tried again.
     */
    keepFields(
      campaign: Pick<Recipient, "organizationId" | "campaignId">,
      clinicians: ReadonlyArray<Pick<Recipient, "npi"> & { readonly fields: RecipientFields }>,
    ): Effect.Effect<ReadonlySet<Npi>>
    /** Finds the fields of an organization's recipients by id; recipients without fields are absent. */
    findFields(
      organizationId: OrganizationId,
      ids: ReadonlyArray<RecipientId>,
    ): Effect.Effect<ReadonlyMap<RecipientId, RecipientFields>>
    /** Reads at most `limit` waiting recipients of a campaign with their fields, from the start or after a position. */
    pageWaiting(
      organizationId: OrganizationId,
      campaignId: CampaignId,
      after: RecipientPosition | undefined,
      limit: number,
    ): Effect.Effect<ReadonlyArray<RecipientPosition & Pick<Recipient, "token"> & { readonly fields: RecipientFields }>>
    /** Marks that recipients created an account, for the first time or again. */
    markAccountCreated(
      organizationId: OrganizationId,
      recipientIds: ReadonlyArray<RecipientId>,
      at: CommitTimestamp,
    ): Effect.Effect<void>
    /** Reads at most `limit` recipients in the order (`updatedAt`, id), after a position. */
    page(organizationId: OrganizationId, after: RecipientPosition, limit: number): Effect.Effect<ListPage<Recipient>>
    /** Reads at most `limit` recipients of a campaign in the same order, from the start or after a position. */
    pageOfCampaign(
      organizationId: OrganizationId,
      campaignId: CampaignId,
      after: RecipientPosition | undefined,
      limit: number,
    ): Effect.Effect<ReadonlyArray<Recipient>>
  }
>()("domain/recipients/RecipientRepository") {}
