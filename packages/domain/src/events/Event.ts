import type { EVENT_TYPES, EventData, EventTypeOf } from "@outreach/contract"
import { BOUNCE_REASONS, type BounceReason } from "@outreach/contract/names"
import { Context, Effect } from "effect"
import {
  type CampaignId,
  createIdentifier,
  type EventId,
  type OrganizationId,
  type ProgramId,
  type RecipientId,
} from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { CommitTimestamp } from "../Transaction.ts"

export type OutreachEventType = EventTypeOf<"to_consumer">

/** Maximum size of a webhook body: body parsers accept 100 KB by default. */
export const MAX_EVENT_BYTES = 65_536

/** An event before its transaction's stamp is known. */
export interface EventDraft {
  readonly id: EventId
  readonly organizationId: OrganizationId
  readonly type: OutreachEventType
  readonly campaignId: CampaignId
  readonly programId: ProgramId
  readonly recipientId: RecipientId | null
  /** Time of the event; default: the transaction's stamp. */
  readonly occurredAt?: Timestamp
  readonly data: object
}

/** Returns the recipients of an event: its own, or those that it lists. */
export const recipientsOf = ({ type, recipientId, data }: EventDraft): ReadonlyArray<string> => {
  if (type === "outreach.recipients_published") {
    return (data as EventData<typeof type>).recipients.map((recipient) => recipient.service_recipient_id)
  }
  return recipientId === null ? [] : [recipientId]
}

/** Creates an event draft with `data` of its type. */
export const composeEvent = <Type extends OutreachEventType>(
  type: Type,
  about: Omit<EventDraft, "type" | "data" | "recipientId"> & {
    readonly recipientId: (typeof EVENT_TYPES)[Type]["recipients"] extends "one" ? RecipientId : null
  },
  data: EventData<Type>,
): EventDraft => ({ ...about, type, data })

interface Addressee extends Pick<EventDraft, "organizationId" | "campaignId" | "programId"> {
  readonly recipientId: RecipientId
  readonly token: string
}

/** Creates the draft of an event for a sent e-mail. */
export const composeSent = (addressee: Addressee) =>
  Effect.map(describe(addressee), ({ about, data }) => composeEvent("outreach.email_sent", about, data))

/** Creates the draft of an event for a bounced e-mail. */
export const composeBounced = (addressee: Addressee, reason: BounceReason) =>
  Effect.map(describe(addressee), ({ about, data }) =>
    composeEvent("outreach.email_bounced", about, { ...data, bounce_reason: reason }),
  )

/** Returns the reason of a bounce's event; `other` for other events. */
export const bounceReasonOf = ({ data }: EventDraft): BounceReason =>
  BOUNCE_REASONS.find((reason) => "bounce_reason" in data && reason === data.bounce_reason) ?? "other"

const describe = ({ organizationId, campaignId, programId, recipientId, token }: Addressee) =>
  Effect.map(createIdentifier("event"), (id) => ({
    about: { id, organizationId, campaignId, programId, recipientId },
    data: { service_recipient_id: recipientId, service_campaign_id: campaignId, token },
  }))

/** Serializes an event's envelope: the bytes that are stored once and sent at every attempt. */
export const serialise = (
  event: Pick<EventDraft, "id" | "occurredAt" | "data"> & { readonly type: string; readonly metadata?: object },
  livemode: boolean,
  stamp: Timestamp,
): string =>
  JSON.stringify({
    object: "event",
    livemode,
    event_id: event.id,
    event_type: event.type,
    event_version: 1,
    occurred_at: event.occurredAt ?? stamp,
    emitted_at: stamp,
    source: "service",
    data: event.data,
    metadata: event.metadata ?? null,
  })

/** Publishes what happened to recipients. */
export class EventPublisher extends Context.Service<
  EventPublisher,
  {
    /**
     * Stamps the recipients of one organization's events, counts the events in campaigns and digests, and writes them to the log, in the
     * transaction of the timestamp. The log contains only events of traffic campaigns.
     */
    publish(events: ReadonlyArray<EventDraft>, at: CommitTimestamp): Effect.Effect<void>
  }
>()("domain/events/EventPublisher") {}
