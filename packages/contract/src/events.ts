import * as z from "zod"
import type { ConsumerEvent, ConsumerEventData, List, ServiceEvent, ServiceEventData } from "../types.d.ts"
import { CampaignSummary, Livemode, ProgramSummary } from "./campaigns.ts"
import { CampaignId, Email, EventId, Npi, ProgramId, RecipientId, Token } from "./identifiers.ts"
import { Cursor, expand, Limit, list } from "./lists.ts"
import {
  BOUNCE_REASONS,
  type EVENT_TYPES,
  type EventType,
  type EventTypeOf,
  FEED_EVENT_TYPES,
  type FeedEventType,
} from "./names.ts"
import type { Schema } from "./Schema.ts"
import { Instant, Since, Timestamp } from "./times.ts"
import { RecipientRecord } from "./tokens.ts"

/** Maximum number of recipients in one `outreach.recipients_published` event. */
export const RECIPIENTS_PER_EVENT = 500

/** The `data` of an event, by type. */
export type EventData<Type extends EventType> = (ServiceEventData & ConsumerEventData)[Type]
/** An event on the wire, by type. */
export type EventEnvelope<Type extends EventType = EventType> = {
  [T in Type]: T extends keyof ServiceEventData
    ? ServiceEvent<T>
    : T extends keyof ConsumerEventData
      ? ConsumerEvent<T>
      : never
}[Type]

/** Envelope fields that both directions share. */
export const envelopeShape = {
  object: z.literal("event"),
  livemode: Livemode,
  event_id: EventId,
  event_version: z.int32().min(1),
  metadata: z.record(z.string(), z.unknown()).nullable().optional().meta({ description: "Passed through." }),
}

/** Returns the name of an event type in the OpenAPI document, such as `EmailSentEvent`. */
function schemaNameOf(type: string): string {
  return `${type.slice(type.indexOf(".")).replace(/[._](\w)/g, (_, letter: string) => letter.toUpperCase())}Event`
}

function toConsumer<const Type extends EventTypeOf<"to_consumer">, Data extends z.ZodType>(
  type: Type,
  description: string,
  data: Data,
) {
  const envelope = z
    .object({
      ...envelopeShape,
      event_type: z.literal(type),
      occurred_at: Timestamp,
      emitted_at: Timestamp,
      source: z.literal("service"),
      data,
      campaign: CampaignSummary.nullable().optional(),
      program: ProgramSummary.nullable().optional(),
      recipient: RecipientRecord.nullable().optional(),
    })
    .meta({ id: schemaNameOf(type), description })
  return { direction: "to_consumer", description, data, envelope } as const
}

function toService<const Type extends string, Data extends z.ZodType>(type: Type, description: string, data: Data) {
  const envelope = z
    .object({
      ...envelopeShape,
      event_type: z.literal(type),
      occurred_at: Instant,
      emitted_at: Instant,
      source: z.literal("consumer"),
      data,
    })
    .meta({ id: schemaNameOf(type), description })
  return { direction: "to_service", description, data, envelope } as const
}

const outcome = { service_recipient_id: RecipientId, service_campaign_id: CampaignId, token: Token }
const hit = {
  service_campaign_id: CampaignId,
  service_program_id: ProgramId,
  token: Token,
  is_bot_suspected: z.boolean().meta({ description: "A best-effort hint, not a verdict." }),
}
const qualified = z.looseObject({ npi: Npi, consumer_program_slug: z.string(), token: Token.nullable().optional() })

const events = {
  "outreach.recipients_published": toConsumer(
    "outreach.recipients_published",
    "Fired before a campaign goes live, so that the consumer can seat token-to-NPI mappings. May arrive in chunks, correlated by `service_campaign_id`.",
    z.looseObject({
      service_campaign_id: CampaignId,
      service_program_id: ProgramId,
      service_campaign_name: z.string(),
      service_program_name: z.string(),
      consumer_program_slug: z.string(),
      scheduled_send_window_start: Timestamp,
      scheduled_send_window_end: Timestamp,
      recipients: z
        .array(z.object({ token: Token, npi: Npi, email: Email, service_recipient_id: RecipientId }))
        .max(RECIPIENTS_PER_EVENT),
    }),
  ),
  "outreach.email_sent": toConsumer(
    "outreach.email_sent",
    "Fired when an outreach email is delivered to the recipient mailbox.",
    z.looseObject(outcome),
  ),
  "outreach.email_bounced": toConsumer(
    "outreach.email_bounced",
    "Fired on a hard bounce: the token is undeliverable.",
    z.looseObject({
      ...outcome,
      bounce_reason: z.string().meta({ description: `One of ${BOUNCE_REASONS.join(", ")}; new reasons may come.` }),
    }),
  ),
  "outreach.email_opened": toConsumer(
    "outreach.email_opened",
    "Fired when an outreach email is opened, whether or not a bot is suspected.",
    z.looseObject({ ...hit, opened_at: Timestamp }),
  ),
  "outreach.email_clicked": toConsumer(
    "outreach.email_clicked",
    "Fired when the link of an outreach email is clicked, whether or not a bot is suspected.",
    z.looseObject({ ...hit, clicked_at: Timestamp }),
  ),
  "clinician.account_created": toService(
    "clinician.account_created",
    "Fired when any clinician creates an account on the partner platform, whether or not they arrived through a token.",
    z
      .looseObject({
        npi: Npi,
        email: Email,
        consumer_program_slug: z.string(),
        attribution: z
          .string()
          .nullable()
          .optional()
          .meta({ description: "`service_token`, `organic` or `other`; unknown strings are kept." }),
        token: Token.nullable().optional().meta({ description: "Set when `attribution` is `service_token`." }),
      })
      .refine(({ attribution, token }) => attribution !== "service_token" || token != null, {
        path: ["token"],
        error: "must be set when attribution is service_token",
      }),
  ),
  "clinician.learner_qualified": toService(
    "clinician.learner_qualified",
    "Fired when a clinician crosses the program's learner threshold.",
    qualified,
  ),
  "clinician.completer_qualified": toService(
    "clinician.completer_qualified",
    "Fired when a clinician completes a program.",
    qualified,
  ),
} as const satisfies { readonly [Type in EventType]: Pick<(typeof EVENT_TYPES)[Type], "direction"> }

/** Definition of an event type: direction, schema of `data` (unknown keys pass) and schema of the envelope. */
export type EventDefinition<Type extends EventType> = {
  readonly direction: (typeof EVENT_TYPES)[Type]["direction"]
  readonly description: string
  readonly data: Schema<EventData<Type>>
  readonly envelope: Schema<EventEnvelope<Type>>
}

/** All event types: direction, schema of `data` (unknown keys pass) and schema of the envelope. */
export const EVENTS: { readonly [Type in EventType]: EventDefinition<Type> } = events

function envelopesOf<Type extends EventType>(types: readonly Type[]) {
  type Envelope = (typeof events)[Type]["envelope"]
  return types.map((type): Envelope => events[type].envelope) as [Envelope, ...Envelope[]]
}

/** An event of any known type, as sent on the wire. */
export const EventEnvelope: Schema<EventEnvelope> = z.discriminatedUnion(
  "event_type",
  envelopesOf(Object.keys(events) as EventType[]),
)

export type FeedEvent = EventEnvelope<FeedEventType>
export const FeedEvent: Schema<FeedEvent> = z
  .discriminatedUnion("event_type", envelopesOf(FEED_EVENT_TYPES))
  .meta({ id: "FeedEvent", description: "An event of the pull feed." })

export const EventList: Schema<List<FeedEvent>> = list(FeedEvent, "EventList")

/** Query of the pull feed. `type` and `types[]` are combined. */
export const EventListQuery = z.strictObject({
  since: Since,
  cursor: Cursor.optional(),
  limit: Limit,
  type: z.enum(FEED_EVENT_TYPES).optional().meta({ description: "One event type; united with `types[]`." }),
  "types[]": z
    .array(z.enum(FEED_EVENT_TYPES))
    .transform((chosen) => [...new Set(chosen)])
    .default([])
    .meta({ description: "Event types, repeatable; all four when neither this nor `type` is given." }),
  "expand[]": expand(["campaign", "program", "recipient"]),
})
