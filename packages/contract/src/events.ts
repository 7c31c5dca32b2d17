import * as z from "zod"
import type { ConsumerEvent, ConsumerEventData, List, ServiceEvent, ServiceEventData } from "../types.d.ts"
import { CampaignSummary, Livemode, ProgramSummary } from "./campaigns.ts"
import { CampaignId, Email, EventId, Npi, ProgramId, RecipientId, Token } from "./identifiers.ts"
import { Cursor, expand, Limit, list } from "./lists.ts"
import { BOUNCE_REASONS, EVENT_TYPES, type EventType, FEED_EVENT_TYPES, type FeedEventType } from "./names.ts"
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

const outcome = { service_recipient_id: RecipientId, service_campaign_id: CampaignId, token: Token }
const hit = {
  service_campaign_id: CampaignId,
  service_program_id: ProgramId,
  token: Token,
  is_bot_suspected: z.boolean().meta({ description: "A best-effort hint, not a verdict." }),
}
const qualified = z.looseObject({ npi: Npi, consumer_program_slug: z.string(), token: Token.nullable().optional() })

const definitions: {
  readonly [Type in EventType]: Pick<EventDefinition<Type>, "description" | "data">
} = {
  "outreach.recipients_published": {
    description:
      "Fired before a campaign goes live, so that the consumer can seat token-to-NPI mappings. May arrive in chunks, correlated by `service_campaign_id`.",
    data: z.looseObject({
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
  },
  "outreach.email_sent": {
    description: "Fired when an outreach email is delivered to the recipient mailbox.",
    data: z.looseObject(outcome),
  },
  "outreach.email_bounced": {
    description: "Fired on a hard bounce: the token is undeliverable.",
    data: z.looseObject({
      ...outcome,
      bounce_reason: z.string().meta({ description: `One of ${BOUNCE_REASONS.join(", ")}; new reasons may come.` }),
    }),
  },
  "outreach.email_opened": {
    description: "Fired when an outreach email is opened, whether or not a bot is suspected.",
    data: z.looseObject({ ...hit, opened_at: Timestamp }),
  },
  "outreach.email_clicked": {
    description: "Fired when the link of an outreach email is clicked, whether or not a bot is suspected.",
    data: z.looseObject({ ...hit, clicked_at: Timestamp }),
  },
  "clinician.account_created": {
    description:
      "Fired when any clinician creates an account on the partner platform, whether or not they arrived through a token.",
    data: z
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
  },
  "clinician.learner_qualified": {
    description: "Fired when a clinician crosses the program's learner threshold.",
    data: qualified,
  },
  "clinician.completer_qualified": {
    description: "Fired when a clinician completes a program.",
    data: qualified,
  },
}

/** Definition of an event type: direction, schema of `data` (unknown keys pass) and schema of the envelope. */
export type EventDefinition<Type extends EventType> = {
  readonly direction: (typeof EVENT_TYPES)[Type]["direction"]
  readonly description: string
  readonly data: Schema<EventData<Type>>
  readonly envelope: Schema<EventEnvelope<Type>>
}

function define(type: EventType) {
  const { description, data } = definitions[type]
  const { direction } = EVENT_TYPES[type]
  const isOurs = direction === "to_consumer"
  const time = isOurs ? Timestamp : Instant
  const envelope = z
    .object({
      ...envelopeShape,
      event_type: z.literal(type),
      occurred_at: time,
      emitted_at: time,
      source: z.literal(isOurs ? "service" : "consumer"),
      data,
      ...(isOurs && {
        campaign: CampaignSummary.nullable().optional(),
        program: ProgramSummary.nullable().optional(),
        recipient: RecipientRecord.nullable().optional(),
      }),
    })
    .meta({ id: schemaNameOf(type), description })
  return { direction, description, data, envelope }
}

const types = Object.keys(EVENT_TYPES) as EventType[]

/** All event types: direction, schema of `data` (unknown keys pass) and schema of the envelope. */
export const EVENTS = Object.fromEntries(types.map((type) => [type, define(type)])) as unknown as {
  readonly [Type in EventType]: EventDefinition<Type>
}

/** Creates the schema of an event of several types. */
function eventOf<Type extends EventType>(types: readonly Type[]): Schema<EventEnvelope<Type>> {
  return z.discriminatedUnion("event_type", types.map((type) => EVENTS[type].envelope) as never)
}

/** An event of any known type, as sent on the wire. */
export const EventEnvelope: Schema<EventEnvelope> = eventOf(types)

export type FeedEvent = EventEnvelope<FeedEventType>
export const FeedEvent: Schema<FeedEvent> = eventOf(FEED_EVENT_TYPES).meta({
  id: "FeedEvent",
  description: "An event of the pull feed.",
})

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
