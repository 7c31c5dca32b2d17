// Written by `pnpm --filter @outreach/webhook-verifier events` from the contract, which this package does not install.

/** A campaign, in short. */
export interface CampaignSummary {
  object: "campaign"
  /** True only on the production deployment. */
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
  /** True only on the production deployment. */
  livemode: boolean
  /** `pgm_<hex>` */
  id: string
  /** The partner's own name of the program. */
  slug: string
  name: string
  /** Free string. */
  status: string
}

/** A recipient: a token bound to a clinician, an e-mail address, a campaign and a program. */
export interface RecipientRecord {
  object: "recipient_record"
  /** True only on the production deployment. */
  livemode: boolean
  /** Six base62 characters. */
  token: string
  /** Ten digits. */
  npi: string
  email: string
  /** `rcp_<hex>` */
  service_recipient_id: string
  /** `cmp_<hex>` */
  service_campaign_id: string
  /** `pgm_<hex>` */
  service_program_id: string
  created_at: string
  updated_at: string | null
  sent_at: string | null
  bounced_at: string | null
  last_event_at: string | null
  /** Present only when expanded. */
  campaign?: CampaignSummary | null | undefined
  /** Present only when expanded. */
  program?: ProgramSummary | null | undefined
}

/** What every event carries, whatever its type. */
export interface EnvelopeMembers {
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
  /** Passed through. */
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
  /** Fired when an outreach email is opened, whether or not a bot is suspected. */
  "outreach.email_opened": Hit & { opened_at: string }
  /** Fired when the link of an outreach email is clicked, whether or not a bot is suspected. */
  "outreach.email_clicked": Hit & { clicked_at: string }
}

/** The `data` of the events that the consumer sends, by type. */
export interface ConsumerEventData {
  /** Fired when any clinician creates an account on the partner platform, whether or not they arrived through a token. */
  "clinician.account_created": {
    npi: string
    email: string
    consumer_program_slug: string
    /** `service_token`, `organic` or `other`; unknown strings are kept. */
    attribution?: string | null | undefined
    /** Set when `attribution` is `service_token`. */
    token?: string | null | undefined
    [key: string]: unknown
  }
  /** Fired when a clinician crosses the program's learner threshold. */
  "clinician.learner_qualified": Qualified
  /** Fired when a clinician completes a program. */
  "clinician.completer_qualified": Qualified
}

/** An event that the service sends. */
export interface ServiceEvent<Type extends keyof ServiceEventData> extends EnvelopeMembers {
  event_type: Type
  source: "service"
  data: ServiceEventData[Type]
  campaign?: CampaignSummary | null | undefined
  program?: ProgramSummary | null | undefined
  recipient?: RecipientRecord | null | undefined
}

/** An event that the consumer sends. */
export interface ConsumerEvent<Type extends keyof ConsumerEventData> extends EnvelopeMembers {
  event_type: Type
  source: "consumer"
  data: ConsumerEventData[Type]
}
