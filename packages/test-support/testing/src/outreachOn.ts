import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { DigestRepository, type FunnelStage } from "@outreach/domain/digest/Digest"
import { type EventDraft, EventPublisher } from "@outreach/domain/events/Event"
import { createIdentifier, type OrganizationId, type ProgramId, type RecipientId } from "@outreach/domain/Identifier"
import type { Npi } from "@outreach/domain/recipients/Clinician"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect } from "effect"
import { inTransaction, sql } from "./sql.ts"

/** The outcome of a recipient: `bot …` is suspected to be a bot, `human …` is not. */
export type Outcome = "sent" | "bounced" | "human opened" | "bot opened" | "human clicked" | "bot clicked"

/** Publishes the outcomes of recipients in one transaction with a given stamp. Inserts recipients that aren't stored yet. */
export const outreachOn = Effect.fnUntraced(function* (
  stamp: string,
  campaign: Campaign,
  outcomes: ReadonlyArray<readonly [recipientId: RecipientId, outcome: Outcome]>,
) {
  yield* insertRecipients(
    campaign,
    outcomes.map(([recipientId]) => recipientId),
  )
  const events = yield* draftsOf(campaign, outcomes)
  yield* inTransaction(EventPublisher.use(({ publish }) => publish(events, stamp as CommitTimestamp)))
})

/** Inserts recipients without keys, each once. */
export const insertRecipients = Effect.fnUntraced(function* (campaign: Campaign, ids: ReadonlyArray<RecipientId>) {
  const { organizationId, id, programId } = campaign
  yield* sql`
    insert into recipients (organization_id, id, campaign_id, program_id, token, npi, email, created_at, updated_at)
    select ${organizationId}, recipient_id, ${id}, ${programId}, 'aB3dE9', '1234567893', 'a@clinic.test', now(), now()
    from unnest(${ids}::text[]) as given (recipient_id) on conflict do nothing`
})

/** Gives inserted recipients their keys, as an import does. */
export const KEY_RECIPIENTS = `
  insert into recipient_keys (organization_id, token, campaign_id, npi, email, recipient_id)
  select organization_id, token, campaign_id, npi, lower(email), id from recipients
  on conflict do nothing`

export const draftsOf = (
  campaign: Campaign,
  outcomes: ReadonlyArray<readonly [recipientId: RecipientId, outcome: Outcome]>,
) =>
  Effect.forEach(
    outcomes,
    Effect.fnUntraced(function* ([recipientId, outcome]) {
      const happened = outcome.split(" ").at(-1) as "sent" | "bounced" | "opened" | "clicked"
      return {
        id: yield* createIdentifier("event"),
        organizationId: campaign.organizationId,
        campaignId: campaign.id,
        programId: campaign.programId,
        recipientId,
        type: `outreach.email_${happened}`,
        data: { is_bot_suspected: outcome.startsWith("bot") },
      } satisfies EventDraft
    }),
  )

/** Counts clinicians who reached a stage, as an event without a sender. */
export const qualifyOn = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  clinicians: ReadonlyArray<{ readonly programId: ProgramId; readonly stage: FunnelStage; readonly npi: string }>,
  at: CommitTimestamp,
) {
  const qualifications = clinicians.map((clinician) => ({ ...clinician, npi: clinician.npi as Npi, eventId: "evt_0" }))
  yield* (yield* DigestRepository).countQualifications(organizationId, qualifications, at)
})
