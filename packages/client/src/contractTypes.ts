// Written by `pnpm --filter @outreach/client types` from the contract, which would bring zod with it.

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

/** One page of a list. */
export interface List<Item> {
  object: "list"
  livemode: boolean
  data: Item[]
  has_more: boolean
  /** Opaque; null exactly when `has_more` is false. */
  next_cursor: string | null
  /** The request's path and query. */
  url: string
}

/** What the health check says. */
export interface Health {
  status: string
  version: string
  timestamp: string
}

/** Clinicians counted by stage of qualification. */
export interface FunnelCounts {
  account_created: number
  learner_qualified: number
  completer_qualified: number
}

/** What outreach did on one date. */
export interface OutreachCounts {
  without_suspected_bots: { opened: number; clicked: number; unique_opened: number; unique_clicked: number; }
  opened: number
  clicked: number
  unique_opened: number
  unique_clicked: number
  recipients_published: number
  sent: number
  bounced: number
}

/** How far one stage of a program is from its target. */
export interface QuotaStatus {
  target: number | null
  count: number
  remaining: number | null
  reached_at: string | null
}

/** One program's day. */
export interface DigestRecord {
  object: "digest_record"
  livemode: boolean
  date: string
  program: ProgramSummary
  funnel: { date: FunnelCounts; cumulative: FunnelCounts; }
  outreach: OutreachCounts
  quota: { learner_qualified: QuotaStatus; completer_qualified: QuotaStatus; }
}

/** One UTC day of every partner-bound program of an organization. */
export interface Digest {
  object: "digest"
  livemode: boolean
  date: string
  data: DigestRecord[]
}

/** One choice: its text, and the value to store for it. */
export interface OptionObject {
  text: string
  value?: string | undefined
}

/** A row of a compound question as it is submitted. */
export interface SubQuestionInput {
  type: "scale" | "single-choice" | "multiple-choice" | "yes-no"
  label: string
  required?: boolean | undefined
  options?: (string | OptionObject)[] | undefined
  points?: number | undefined
  labels?: { start?: string | undefined; end?: string | undefined; } | undefined
}

/** A survey's question as it is submitted. */
export interface QuestionInput {
  type: "number" | "text" | "scale" | "single-choice" | "multiple-choice" | "yes-no" | "maxdiff" | "compound"
  text: string
  description?: string | undefined
  required?: boolean | undefined
  placeholder?: string | undefined
  voiceEnabled?: boolean | undefined
  validation?: { minLength?: number | undefined; maxLength?: number | undefined; min?: number | undefined; max?: number | undefined; } | undefined
  options?: (string | OptionObject)[] | undefined
  allowOther?: boolean | undefined
  maxSelections?: number | undefined
  randomizeOptions?: boolean | undefined
  points?: number | undefined
  labels?: { start?: string | undefined; end?: string | undefined; points?: string[] | undefined; } | undefined
  visualization?: "slider" | "likert" | "semantic" | "descriptive" | "frequency" | "comparative" | "numerical" | "graphic" | "multi-dimension" | undefined
  showLabels?: boolean | undefined
  showValue?: boolean | undefined
  flipped?: boolean | undefined
  yesText?: string | undefined
  noText?: string | undefined
  items?: string[] | undefined
  config?: { itemsPerTask?: number | undefined; totalTasks?: number | undefined; } | undefined
  contextHeader?: string | undefined
  subQuestions?: SubQuestionInput[] | undefined
}

/** What a case was published as. */
export interface Publication {
  type: "text" | "pdf" | "link" | "embedded"
  url?: string | undefined
  metadata?: { journal?: string | undefined; authors?: string | undefined; title?: string | undefined; doi?: string | undefined; year?: number | undefined; } | undefined
}

/** A clinical case as it is submitted. */
export interface CaseInput {
  title: string
  content: string
  questions: QuestionInput[]
  ref?: string | undefined
  prompt?: string | undefined
  publication?: Publication | undefined
  keyPoints?: string[] | undefined
  summary?: string | undefined
  headerLabel?: string | undefined
  reflectionLabel?: string | undefined
  introLabel?: string | undefined
}

/** One audience of a survey. */
export interface AudienceInput {
  name?: string | undefined
  roles?: string[] | undefined
  specialtyCodes?: string[] | undefined
  states?: string[] | undefined
  zipCodes?: string[] | undefined
  compensation?: number | undefined
  quota?: number | undefined
}

/** Whom a survey is for. */
export interface Targeting {
  audiences: AudienceInput[]
}

/** A survey as it is submitted. */
export interface SurveyInput {
  title: string
  estimatedTime: { min: number; max: number; }
  incentive: number
  description?: string | undefined
  briefDescription?: string | undefined
  sponsor?: string | undefined
  background?: string | undefined
  directions?: string | undefined
  outcomes?: string | undefined
  format?: "standard" | "case-based" | undefined
  questions?: QuestionInput[] | undefined
  introQuestions?: QuestionInput[] | undefined
  cases?: CaseInput[] | undefined
  closingQuestions?: QuestionInput[] | undefined
  targeting?: Targeting | undefined
}

/** A survey saved as a draft. */
export interface SurveyCreated {
  id: string
  title: string
  status: string
  questionCount: number
  createdAt: string
}

/** The outcome of a dry run. */
export interface ValidateResult {
  valid: boolean
  questionCount: number
  caseCount?: number | undefined
}

/** Where to upload a file, and where it is found afterwards. */
export interface PresignResult {
  url: string
  publicUrl: string
  expiresIn: number
}

/** The acknowledgement of a stored event. */
export interface WebhookReceipt {
  received: true
}

/** What each operation can be asked in its query, by wire name. */
export interface Queries {
  getHealth: {}
  getToken: {
    "expand[]"?: ("program" | "campaign")[] | undefined
  }
  listTokens: {
    limit?: number | undefined
    "expand[]"?: ("program" | "campaign")[] | undefined
    since: string
    cursor?: string | undefined
  }
  listEvents: {
    since: string
    limit?: number | undefined
    "types[]"?: ("outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked")[] | undefined
    "expand[]"?: ("program" | "campaign" | "recipient")[] | undefined
    cursor?: string | undefined
    type?: "outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked" | undefined
  }
  listCampaignRecipients: {
    limit?: number | undefined
    "expand[]"?: ("program" | "campaign")[] | undefined
    cursor?: string | undefined
  }
  getDigest: {
    date: string
  }
  receiveWebhook: {}
  createSurvey: {}
  validateSurvey: {}
  presignUpload: {
    filename: string
    contentType?: string | undefined
  }
}
