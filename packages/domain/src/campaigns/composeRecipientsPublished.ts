import { composeEvent, type EventDraft, MAX_EVENT_BYTES, serialise } from "../events/Event.ts"
import type { EventId } from "../Identifier.ts"
import type { Recipient } from "../recipients/Recipient.ts"
import type { PublicationChunk } from "./CampaignRepository.ts"

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
