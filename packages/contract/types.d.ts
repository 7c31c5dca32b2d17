// Written by `pnpm --filter @outreach/contract types` from openapi.json: the contract without zod.

/** An event that the consumer sends; unknown types are acknowledged. */
export interface InboundEvent {
  object: "event"
  /** True only on the production deployment. */
  livemode: boolean
  /** Identifier of an event: the deduplication key. */
  event_id: string
  event_version: number
  /** Passed through. */
  metadata?: Record<string, unknown> | null | undefined
  event_type: string
  /** ISO 8601 date-time with `Z` or an offset. */
  occurred_at: string
  /** ISO 8601 date-time with `Z` or an offset. */
  emitted_at: string
  source: "consumer"
  data: Record<string, unknown>
}

/** A submitted survey. Unknown fields are rejected. */
export interface SurveyInput {
  title: string
  /** `max` is at least `min`. */
  estimatedTime: {
    min: number
    max: number
  }
  /** Dollars. */
  incentive: number
  /** Rich text intro. */
  description?: string | undefined
  briefDescription?: string | undefined
  sponsor?: string | undefined
  background?: string | undefined
  directions?: string | undefined
  outcomes?: string | undefined
  format?: "standard" | "case-based" | undefined
  /** Required for, and only for, the standard format. */
  questions?: QuestionInput[] | undefined
  /** Case-based only. */
  introQuestions?: QuestionInput[] | undefined
  /** Required for, and only for, the case-based format. */
  cases?: CaseInput[] | undefined
  /** Case-based only. */
  closingQuestions?: QuestionInput[] | undefined
  targeting?: Targeting | undefined
}

/** A survey's question. */
export interface QuestionInput {
  type: "text" | "single-choice" | "multiple-choice" | "scale" | "yes-no" | "number" | "maxdiff" | "compound"
  text: string
  description?: string | undefined
  required?: boolean | undefined
  placeholder?: string | undefined
  voiceEnabled?: boolean | undefined
  validation?: {
    minLength?: number | undefined
    maxLength?: number | undefined
    min?: number | undefined
    max?: number | undefined
  } | undefined
  /** At least 2 for single-choice and multiple-choice. */
  options?: (string | OptionObject)[] | undefined
  allowOther?: boolean | undefined
  maxSelections?: number | undefined
  randomizeOptions?: boolean | undefined
  points?: number | undefined
  labels?: {
    start?: string | undefined
    end?: string | undefined
    points?: string[] | undefined
  } | undefined
  visualization?: "slider" | "likert" | "semantic" | "descriptive" | "frequency" | "comparative" | "numerical" | "graphic" | "multi-dimension" | undefined
  showLabels?: boolean | undefined
  showValue?: boolean | undefined
  flipped?: boolean | undefined
  yesText?: string | undefined
  noText?: string | undefined
  /** Required for maxdiff. */
  items?: string[] | undefined
  config?: {
    itemsPerTask?: number | undefined
    totalTasks?: number | undefined
  } | undefined
  contextHeader?: string | undefined
  subQuestions?: SubQuestionInput[] | undefined
}

/** One choice: its text, and the value to store for it. */
export interface OptionObject {
  text: string
  value?: string | undefined
}

/** One row of a compound question. */
export interface SubQuestionInput {
  type: "scale" | "single-choice" | "multiple-choice" | "yes-no"
  label: string
  required?: boolean | undefined
  options?: (string | OptionObject)[] | undefined
  points?: number | undefined
  labels?: {
    start?: string | undefined
    end?: string | undefined
  } | undefined
}

/** A clinical case and its questions. */
export interface CaseInput {
  title: string
  /** HTML. */
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

/** The publication of a case. */
export interface Publication {
  type: "pdf" | "link" | "embedded" | "text"
  url?: string | undefined
  metadata?: {
    journal?: string | undefined
    authors?: string | undefined
    title?: string | undefined
    doi?: string | undefined
    year?: number | undefined
  } | undefined
}

/** The audience of a survey. */
export interface Targeting {
  audiences: AudienceInput[]
}

/** One audience of a survey. */
export interface AudienceInput {
  name?: string | undefined
  /** NUCC groupings. */
  roles?: string[] | undefined
  /** NUCC codes. */
  specialtyCodes?: string[] | undefined
  /** US state codes. */
  states?: string[] | undefined
  zipCodes?: string[] | undefined
  /** Dollars, instead of the survey's incentive. */
  compensation?: number | undefined
  /** Target number of responses. */
  quota?: number | undefined
}

/** A campaign, in short. */
export interface CampaignSummary {
  object: "campaign"
  /** True only on the production deployment. */
  livemode: boolean
  /** Identifier of a campaign. */
  id: string
  name: string
  /** Identifier of a program. */
  program_id: string
  /** Free string. */
  status: string
}

/** A program, in short. */
export interface ProgramSummary {
  object: "program"
  /** True only on the production deployment. */
  livemode: boolean
  /** Identifier of a program. */
  id: string
  /** Program slug used by the partner. */
  slug: string
  name: string
  /** Free string. */
  status: string
}

/** A token bound to a clinician, an e-mail address, a campaign and a program. The nullable times are always present; `campaign` and `program` only when expanded. */
export interface RecipientRecord {
  object: "recipient_record"
  /** True only on the production deployment. */
  livemode: boolean
  /** Short-link token, 6 base62 characters. */
  token: string
  /** National provider identifier, 10 digits. */
  npi: string
  /** E-mail address. Its local part may have non-ASCII letters (RFC 6531). The service writes domains in ASCII (RFC 5890). */
  email: string
  /** Identifier of a recipient. */
  service_recipient_id: string
  /** Identifier of a campaign. */
  service_campaign_id: string
  /** Identifier of a program. */
  service_program_id: string
  /** UTC date-time with microseconds. */
  created_at: string
  updated_at: string | null
  sent_at: string | null
  bounced_at: string | null
  last_event_at: string | null
  campaign?: CampaignSummary | null | undefined
  program?: ProgramSummary | null | undefined
}

/** The result of the health check. */
export interface Health {
  /** `ok` when reachable. */
  status: string
  /** The released version. */
  version: string
  /** UTC date-time with microseconds. */
  timestamp: string
}

/** The body of every error response of the partner endpoints. */
export interface PartnerError {
  error: {
    /** The value for retry and UX logic. */
    type: "authentication_error" | "invalid_request_error" | "permission_error" | "rate_limit_error" | "idempotency_error" | "api_error"
    /** The set only grows: treat a code you do not know by its `type`. */
    code: "UNAUTHORIZED" | "INSUFFICIENT_SCOPE" | "INVALID_TOKEN" | "INVALID_CAMPAIGN_ID" | "TOKEN_NOT_FOUND" | "MISSING_PARAMETER" | "INVALID_PARAMETER" | "INVALID_EXPAND" | "INVALID_TYPE_FILTER" | "IDEMPOTENCY_KEY_REUSED" | "RATE_LIMITED" | "INTERNAL_ERROR" | "NOT_FOUND" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "IDEMPOTENCY_KEY_IN_USE" | "INVALID_SIGNATURE" | "SERVICE_UNAVAILABLE"
    /** Human-readable. */
    message: string
    /** Free-form; `parameter` names the parameter of MISSING_PARAMETER and INVALID_PARAMETER. */
    details?: Record<string, unknown> | null | undefined
    /** The code's entry in the published guide. */
    doc_url: string
    /** Identifier of a request; equals the `X-Request-Id` header. */
    request_id: string
  }
}

/** One UTC day of every partner-bound program of the caller's organization. */
export interface Digest {
  object: "digest"
  /** True only on the production deployment. */
  livemode: boolean
  /** UTC calendar date. */
  date: string
  data: DigestRecord[]
}

/** One program's day. */
export interface DigestRecord {
  object: "digest_record"
  /** True only on the production deployment. */
  livemode: boolean
  /** UTC calendar date. */
  date: string
  program: ProgramSummary
  /** For the date, and up to its end. */
  funnel: {
    date: FunnelCounts
    cumulative: FunnelCounts
  }
  outreach: OutreachCounts
  quota: {
    learner_qualified: QuotaStatus
    completer_qualified: QuotaStatus
  }
}

/** Clinicians counted by stage of qualification. */
export interface FunnelCounts {
  account_created: number
  learner_qualified: number
  completer_qualified: number
}

/** The outreach of one date: its events by `emitted_at`, in UTC. */
export interface OutreachCounts {
  recipients_published: number
  sent: number
  bounced: number
  opened: number
  clicked: number
  /** Recipients of the date: one who comes back on the next counts there too. */
  unique_opened: number
  /** Recipients of the date: one who comes back on the next counts there too. */
  unique_clicked: number
  /** The same without hits suspected to be bots. */
  without_suspected_bots: {
    opened: number
    clicked: number
    /** Recipients of the date: one who comes back on the next counts there too. */
    unique_opened: number
    /** Recipients of the date: one who comes back on the next counts there too. */
    unique_clicked: number
  }
}

/** How far one stage of a program is from its target, at the end of the date; all but `count` are null without a target. */
export interface QuotaStatus {
  target: number | null
  count: number
  remaining: number | null
  reached_at: string | null
}

/** The event is stored. */
export interface WebhookReceipt {
  received: true
}

/** A survey saved as a draft. */
export interface SurveyCreated {
  id: string
  title: string
  /** `draft` for a created survey. */
  status: string
  questionCount: number
  /** ISO 8601 date-time with `Z` or an offset. */
  createdAt: string
}

/** The body of every error response of the survey and upload endpoints. */
export interface LegacyError {
  error: {
    code: "VALIDATION_ERROR" | "UNAUTHORIZED" | "METHOD_NOT_ALLOWED" | "RATE_LIMITED" | "INTERNAL_ERROR" | "NOT_IMPLEMENTED" | "SERVICE_UNAVAILABLE"
    message: string
    errors?: {
      code: string
      /** Location in the submitted survey. */
      path: string
      message: string
    }[] | undefined
  }
}

/** The outcome of a dry run. */
export interface ValidateResult {
  valid: boolean
  questionCount: number
  caseCount?: number | undefined
}

/** Where to upload a file, and where it is found afterwards. */
export interface PresignResult {
  /** Upload here by PUT. */
  url: string
  /** Refer to the file by this after the upload. */
  publicUrl: string
  /** Seconds until the upload URL expires. */
  expiresIn: number
}

/** One page of a list. */
export interface List<Item> {
  object: "list"
  /** True only on the production deployment. */
  livemode: boolean
  data: Item[]
  has_more: boolean
  /** Opaque; null when no further page. */
  next_cursor: string | null
  /** Echo of the request's path and query. */
  url: string
}

/** The fields of every event: `occurred_at` is when the thing happened, `emitted_at` when the event was made. */
export interface EnvelopeMembers {
  object: "event"
  /** True only on the production deployment. */
  livemode: boolean
  /** Identifier of an event: the deduplication key. */
  event_id: string
  event_version: number
  /** Passed through. */
  metadata?: Record<string, unknown> | null | undefined
  /** ISO 8601 date-time with `Z` or an offset. */
  occurred_at: string
  /** ISO 8601 date-time with `Z` or an offset. */
  emitted_at: string
}

/** The `data` of the events that the service sends, by type. A newer version may add keys. */
export interface ServiceEventData {
  /** Fired before a campaign goes live, so that the consumer can seat token-to-NPI mappings. May arrive in chunks, correlated by `service_campaign_id`. */
  "outreach.recipients_published": {
    /** Identifier of a campaign. */
    service_campaign_id: string
    /** Identifier of a program. */
    service_program_id: string
    service_campaign_name: string
    service_program_name: string
    consumer_program_slug: string
    /** UTC date-time with microseconds. */
    scheduled_send_window_start: string
    /** UTC date-time with microseconds. */
    scheduled_send_window_end: string
    recipients: {
      /** Short-link token, 6 base62 characters. */
      token: string
      /** National provider identifier, 10 digits. */
      npi: string
      /** E-mail address. Its local part may have non-ASCII letters (RFC 6531). The service writes domains in ASCII (RFC 5890). */
      email: string
      /** Identifier of a recipient. */
      service_recipient_id: string
    }[]
    [key: string]: unknown
  }
  /** Fired when an outreach email is delivered to the recipient mailbox. */
  "outreach.email_sent": {
    /** Identifier of a recipient. */
    service_recipient_id: string
    /** Identifier of a campaign. */
    service_campaign_id: string
    /** Short-link token, 6 base62 characters. */
    token: string
    [key: string]: unknown
  }
  /** Fired on a hard bounce: the token is undeliverable. */
  "outreach.email_bounced": {
    /** Identifier of a recipient. */
    service_recipient_id: string
    /** Identifier of a campaign. */
    service_campaign_id: string
    /** Short-link token, 6 base62 characters. */
    token: string
    /** One of mailbox_not_found, mailbox_disabled, domain_not_found, address_invalid, other; new reasons may come. */
    bounce_reason: string
    [key: string]: unknown
  }
  /** Fired when an outreach email is opened, whether or not a bot is suspected. */
  "outreach.email_opened": {
    /** Identifier of a campaign. */
    service_campaign_id: string
    /** Identifier of a program. */
    service_program_id: string
    /** Short-link token, 6 base62 characters. */
    token: string
    /** A best-effort hint, not a verdict. */
    is_bot_suspected: boolean
    /** UTC date-time with microseconds. */
    opened_at: string
    [key: string]: unknown
  }
  /** Fired when the link of an outreach email is clicked, whether or not a bot is suspected. */
  "outreach.email_clicked": {
    /** Identifier of a campaign. */
    service_campaign_id: string
    /** Identifier of a program. */
    service_program_id: string
    /** Short-link token, 6 base62 characters. */
    token: string
    /** A best-effort hint, not a verdict. */
    is_bot_suspected: boolean
    /** UTC date-time with microseconds. */
    clicked_at: string
    [key: string]: unknown
  }
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

/** The `data` of the events that the consumer sends, by type. A newer version may add keys. */
export interface ConsumerEventData {
  /** Fired when any clinician creates an account on the partner platform, whether or not they arrived through a token. */
  "clinician.account_created": {
    /** National provider identifier, 10 digits. */
    npi: string
    /** E-mail address. Its local part may have non-ASCII letters (RFC 6531). The service writes domains in ASCII (RFC 5890). */
    email: string
    consumer_program_slug: string
    /** `service_token`, `organic` or `other`; unknown strings are kept. */
    attribution?: string | null | undefined
    /** Set when `attribution` is `service_token`. */
    token?: string | null | undefined
    [key: string]: unknown
  }
  /** Fired when a clinician crosses the program's learner threshold. */
  "clinician.learner_qualified": {
    /** National provider identifier, 10 digits. */
    npi: string
    consumer_program_slug: string
    token?: string | null | undefined
    [key: string]: unknown
  }
  /** Fired when a clinician completes a program. */
  "clinician.completer_qualified": {
    /** National provider identifier, 10 digits. */
    npi: string
    consumer_program_slug: string
    token?: string | null | undefined
    [key: string]: unknown
  }
}

/** An event that the consumer sends. */
export interface ConsumerEvent<Type extends keyof ConsumerEventData> extends EnvelopeMembers {
  event_type: Type
  source: "consumer"
  data: ConsumerEventData[Type]
}

/** The query parameters of each operation, by wire name. */
export interface Queries {
  getHealth: {}
  getToken: {
    /** Related objects to include; repeatable. */
    "expand[]"?: ("campaign" | "program")[] | undefined
  }
  listTokens: {
    /** Inclusive lower bound: a date-time with `Z` or an offset and at most nine fraction digits, of which those below a microsecond are cut off. Write the `+` of an offset as `%2B`. */
    since: string
    /** Opaque value of the previous page's `next_cursor`. */
    cursor?: string | undefined
    /** Page size. */
    limit?: number | undefined
    /** Related objects to include; repeatable. */
    "expand[]"?: ("campaign" | "program")[] | undefined
  }
  listEvents: {
    /** Inclusive lower bound: a date-time with `Z` or an offset and at most nine fraction digits, of which those below a microsecond are cut off. Write the `+` of an offset as `%2B`. */
    since: string
    /** Opaque value of the previous page's `next_cursor`. */
    cursor?: string | undefined
    /** Page size. */
    limit?: number | undefined
    /** One event type; united with `types[]`. */
    type?: "outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked" | undefined
    /** Event types, repeatable; all four when neither this nor `type` is given. */
    "types[]"?: ("outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked")[] | undefined
    /** Related objects to include; repeatable. */
    "expand[]"?: ("campaign" | "program" | "recipient")[] | undefined
  }
  listCampaignRecipients: {
    /** Opaque value of the previous page's `next_cursor`. */
    cursor?: string | undefined
    /** Page size. */
    limit?: number | undefined
    /** Related objects to include; repeatable. */
    "expand[]"?: ("campaign" | "program")[] | undefined
  }
  getDigest: {
    /** UTC calendar date. */
    date: string
  }
  receiveWebhook: {}
  createSurvey: {}
  validateSurvey: {}
  presignUpload: {
    /** Used for content-type detection. */
    filename: string
    contentType?: string | undefined
  }
}
