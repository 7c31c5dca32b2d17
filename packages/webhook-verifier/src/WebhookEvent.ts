/** A campaign, in short. */
export interface CampaignSummary {
  object: "campaign"
  livemode: boolean
  /** `cmp_<hex>` */
  id: string
  name: string
  /** `pgm_<hex>` */
  program_id: string
  /** Free string. */
  status: string
}

/** A program, in short. */
export interface ProgramSummary {
  object: "program"
  livemode: boolean
  /** `pgm_<hex>` */
  id: string
  /** The partner's own name of the program. */
  slug: string
  name: string
  /** Free string. */
  status: string
}

/** A token bound to a clinician, an e-mail address, a campaign and a program. */
export interface RecipientRecord {
  object: "recipient_record"
  livemode: boolean
  /** Six base62 characters. */
  token: string
  /** Ten digits. */
  npi: string
  email: string
  service_recipient_id: string
  service_campaign_id: string
  service_program_id: string
  created_at: string
  updated_at: string | null
  sent_at: string | null
  bounced_at: string | null
  last_event_at: string | null
  campaign?: CampaignSummary | null | undefined
  program?: ProgramSummary | null | undefined
}

/** What every event carries, whatever its type. */
export interface EventEnvelope {
  object: "event"
  /** True only on the production deployment. */
  livemode: boolean
  /** `evt_<hex>`: the deduplication key. */
  event_id: string
  event_version: number
  /** When the thing happened, ISO 8601. */
  occurred_at: string
  /** When the envelope was emitted, ISO 8601. */
  emitted_at: string
  metadata?: Record<string, unknown> | null | undefined
}

interface Outcome {
  service_recipient_id: string
  service_campaign_id: string
  token: string
  [key: string]: unknown
}

interface Hit {
  service_campaign_id: string
  service_program_id: string
  token: string
  /** A best-effort hint, not a verdict. */
  is_bot_suspected: boolean
  [key: string]: unknown
}

interface Qualified {
  npi: string
  consumer_program_slug: string
  token?: string | null | undefined
  [key: string]: unknown
}

/** The `data` of the events that the service sends, by type. A newer service may add keys. */
export interface ServiceEventData {
  /** Fired before a campaign goes live; may arrive in chunks, correlated by `service_campaign_id`. */
  "outreach.recipients_published": {
    service_campaign_id: string
    service_program_id: string
    service_campaign_name: string
    service_program_name: string
    consumer_program_slug: string
    scheduled_send_window_start: string
    scheduled_send_window_end: string
    recipients: { token: string; npi: string; email: string; service_recipient_id: string }[]
    [key: string]: unknown
  }
  /** Fired when an outreach email is delivered to the recipient mailbox. */
  "outreach.email_sent": Outcome
  /** Fired on a hard bounce: the token is undeliverable. */
  "outreach.email_bounced": Outcome & {
    /** `mailbox_not_found`, `mailbox_disabled`, `domain_not_found`, `address_invalid`, `other`; new reasons may come. */
    bounce_reason: string
  }
  "outreach.email_opened": Hit & { opened_at: string }
  "outreach.email_clicked": Hit & { clicked_at: string }
}

/** The `data` of the events that the consumer sends, by type. */
export interface ConsumerEventData {
  "clinician.account_created": {
    npi: string
    email: string
    consumer_program_slug: string
    attribution?: string | null | undefined
    token?: string | null | undefined
    [key: string]: unknown
  }
  "clinician.learner_qualified": Qualified
  "clinician.completer_qualified": Qualified
}

type ServiceEvent = {
  [Type in keyof ServiceEventData]: EventEnvelope & {
    event_type: Type
    source: "service"
    data: ServiceEventData[Type]
    campaign?: CampaignSummary | null | undefined
    program?: ProgramSummary | null | undefined
    recipient?: RecipientRecord | null | undefined
  }
}[keyof ServiceEventData]

type ConsumerEvent = {
  [Type in keyof ConsumerEventData]: EventEnvelope & {
    event_type: Type
    source: "consumer"
    data: ConsumerEventData[Type]
  }
}[keyof ConsumerEventData]

/** An event of a type that this version knows. */
export type KnownEvent = ServiceEvent | ConsumerEvent

/** The name of an event that this version knows. */
export type EventType = KnownEvent["event_type"]

declare const unknown: unique symbol

/**
 * The name of an event that this version does not know. It is a string; `String(type)` types it as one.
 *
 * No comparison with a known name narrows to it, which neither `string` nor a branded string achieves.
 */
export interface UnknownEventType {
  readonly [unknown]: true
  toString(): string
}

/** An event of a type that is newer than this version: acknowledge it. */
export interface UnknownEvent extends EventEnvelope {
  event_type: UnknownEventType
  source: string
  data: Record<string, unknown>
}

/** A verified event. A `switch` over `event_type` types `data`, and leaves an `UnknownEvent` to its `default`. */
export type WebhookEvent = KnownEvent | UnknownEvent

/** The events of one type, or of several. */
export type EventOf<Type extends EventType> = Extract<KnownEvent, { event_type: Type }>
