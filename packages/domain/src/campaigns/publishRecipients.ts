import { RECIPIENTS_PER_EVENT } from "@outreach/contract"
import { Effect, Exit } from "effect"
import { composeEvent, type EventDraft, EventPublisher, MAX_EVENT_BYTES, serialise } from "../events/Event.ts"
import { type CampaignId, createIdentifier, type EventId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import { ErasedClinicianRepository, isErased } from "../suppressions/ErasedClinicians.ts"
import { SuppressionRepository } from "../suppressions/Withdrawals.ts"
import { Transaction } from "../Transaction.ts"
import { statusAfterPublication } from "./Campaign.ts"
import { CampaignRepository, type PublicationChunk } from "./CampaignRepository.ts"

/**
 * Publishes the next recipients of a scheduled campaign in one transaction. Returns false if there are none.
 * If that fails, publishes those of the next campaign. Fails only if no other campaign can be published.
 */
export const publishChunk = Effect.fn("publishRecipients.publishChunk")(function* () {
  const campaigns = yield* CampaignRepository
  const transaction = yield* Transaction
  const failed: Array<CampaignId> = []
  let locked: CampaignId | undefined
  const publish = Effect.gen(function* () {
    const next = yield* campaigns.lockNext(failed)
    locked = next?.id
    if (next === undefined) return undefined
    const chunk = yield* campaigns.lockChunk(next, RECIPIENTS_PER_EVENT)
    const withdrawn = yield* withdrawErased(chunk)
    if (withdrawn > 0) return { campaignId: chunk.campaign.id, recipients: 0, withdrawn }
    const isEmpty = chunk.recipients.length === 0
    const { event, recipients } = isEmpty
      ? { recipients: [] }
      : composeRecipientsPublished(yield* createIdentifier("event"), chunk)
    const count = { limit: RECIPIENTS_PER_EVENT, read: chunk.recipients.length, announced: recipients.length }
    const status = statusAfterPublication(count)
    const { campaign } = chunk
    yield* campaigns.queue(campaign, recipients, status)
    if (event !== undefined) {
      const at = yield* transaction.commitTimestamp(campaign.organizationId)
      yield* (yield* EventPublisher).publish([event], at)
    }
    return { campaignId: campaign.id, recipients: recipients.length, withdrawn: 0 }
  })
  const first = yield* Effect.exit(transaction.run(publish))
  let latest = first
  while (Exit.isFailure(latest) && locked !== undefined) {
    yield* Effect.logWarning("publication failed").pipe(Effect.annotateLogs({ campaignId: locked }))
    failed.push(locked)
    locked = undefined
    latest = yield* Effect.exit(transaction.run(publish))
  }
  const published = (yield* latest) ?? (yield* first)
  if (published === undefined) return false
  if (published.recipients > 0 || published.withdrawn > 0) {
    yield* Effect.logInfo("recipients published").pipe(Effect.annotateLogs(published))
  }
  return true
})

/** Withdraws recipients with an erased NPI or address, imported by a process that didn't know the erasure. Returns their number. */
const withdrawErased = Effect.fnUntraced(function* ({ campaign: { organizationId }, recipients }: PublicationChunk) {
  if (recipients.length === 0) return 0
  const erased = yield* (yield* ErasedClinicianRepository).find(organizationId, recipients)
  const chosen = recipients.filter((recipient) => isErased(erased, recipient))
  if (chosen.length === 0) return 0
  const at = yield* (yield* Transaction).commitTimestamp(organizationId)
  return yield* (yield* SuppressionRepository).withdraw(
    organizationId,
    chosen.map(({ id }) => ({ id, reason: "suppressed" as const })),
    at,
  )
})

/** Composes the event for the first recipients of a chunk: as many as fit, at least one. */
export const composeRecipientsPublished = (
  id: EventId,
  { campaign, program, recipients }: PublicationChunk,
): { readonly event: EventDraft; readonly recipients: ReadonlyArray<Recipient> } => {
  const compose = (announced: ReadonlyArray<Recipient>) =>
    composeEvent(
      "outreach.recipients_published",
      {
        id,
        organizationId: campaign.organizationId,
        campaignId: campaign.id,
        programId: campaign.programId,
        recipientId: null,
      },
      {
        service_campaign_id: campaign.id,
        service_program_id: campaign.programId,
        service_campaign_name: campaign.name,
        service_program_name: program.name,
        consumer_program_slug: program.slug,
        scheduled_send_window_start: campaign.windowStart,
        scheduled_send_window_end: campaign.windowEnd,
        recipients: announced.map(toAnnounced),
      },
    )
  // All stamps have the same length, and `false` is the longer livemode.
  let size = byteLength(serialise(compose([]), false, campaign.windowStart))
  const end = recipients.findIndex((recipient) => {
    size += byteLength(JSON.stringify(toAnnounced(recipient))) + COMMA
    return size - COMMA > MAX_EVENT_BYTES
  })
  const announced = end === -1 ? recipients : recipients.slice(0, Math.max(end, 1))
  return { event: compose(announced), recipients: announced }
}

const COMMA = 1

const toAnnounced = ({ token, npi, email, id }: Recipient) => ({ token, npi, email, service_recipient_id: id })

const encoder = new TextEncoder()
const byteLength = (text: string): number => encoder.encode(text).length
