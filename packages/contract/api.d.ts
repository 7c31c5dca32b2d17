// @outreach/contract
import type { List, EnvelopeMembers, ServiceEventData, ConsumerEventData, ConsumerEvent } from '@outreach/contract/types';

import * as z from 'zod';
import { PartnerErrorCode, LegacyErrorCode } from './catalogs.js';
import { Scope, EventType, EVENT_TYPES, FeedEventType } from './names.js';
export { BOUNCE_REASONS, BounceReason, EventTypeOf, FEED_EVENT_TYPES, SCOPES } from './names.js';
import '@outreach/error-catalog';
import '@outreach/error-catalog/partner';

// Written by `pnpm --filter @outreach/contract types` from openapi.json: the contract without zod.

/** An event that the consumer sends; unknown types are acknowledged. */
interface InboundEvent$1 {
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
interface SurveyInput$1 {
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
  questions?: QuestionInput$1[] | undefined
  /** Case-based only. */
  introQuestions?: QuestionInput$1[] | undefined
  /** Required for, and only for, the case-based format. */
  cases?: CaseInput$1[] | undefined
  /** Case-based only. */
  closingQuestions?: QuestionInput$1[] | undefined
  targeting?: Targeting$1 | undefined
}

/** A survey's question. */
interface QuestionInput$1 {
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
  options?: (string | OptionObject$1)[] | undefined
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
  subQuestions?: SubQuestionInput$1[] | undefined
}

/** One choice: its text, and the value to store for it. */
interface OptionObject$1 {
  text: string
  value?: string | undefined
}

/** One row of a compound question. */
interface SubQuestionInput$1 {
  type: "scale" | "single-choice" | "multiple-choice" | "yes-no"
  label: string
  required?: boolean | undefined
  options?: (string | OptionObject$1)[] | undefined
  points?: number | undefined
  labels?: {
    start?: string | undefined
    end?: string | undefined
  } | undefined
}

/** A clinical case and its questions. */
interface CaseInput$1 {
  title: string
  /** HTML. */
  content: string
  questions: QuestionInput$1[]
  ref?: string | undefined
  prompt?: string | undefined
  publication?: Publication$1 | undefined
  keyPoints?: string[] | undefined
  summary?: string | undefined
  headerLabel?: string | undefined
  reflectionLabel?: string | undefined
  introLabel?: string | undefined
}

/** The publication of a case. */
interface Publication$1 {
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
interface Targeting$1 {
  audiences: AudienceInput$1[]
}

/** One audience of a survey. */
interface AudienceInput$1 {
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
interface CampaignSummary$1 {
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
interface ProgramSummary$1 {
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
interface RecipientRecord$1 {
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
  campaign?: CampaignSummary$1 | null | undefined
  program?: ProgramSummary$1 | null | undefined
}

/** The result of the health check. */
interface Health$1 {
  /** `ok` when reachable. */
  status: string
  /** The released version. */
  version: string
  /** UTC date-time with microseconds. */
  timestamp: string
}

/** The body of every error response of the partner endpoints. */
interface PartnerError$1 {
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
interface Digest$1 {
  object: "digest"
  /** True only on the production deployment. */
  livemode: boolean
  /** UTC calendar date. */
  date: string
  data: DigestRecord$1[]
}

/** One program's day. */
interface DigestRecord$1 {
  object: "digest_record"
  /** True only on the production deployment. */
  livemode: boolean
  /** UTC calendar date. */
  date: string
  program: ProgramSummary$1
  /** For the date, and up to its end. */
  funnel: {
    date: FunnelCounts$1
    cumulative: FunnelCounts$1
  }
  outreach: OutreachCounts$1
  quota: {
    learner_qualified: QuotaStatus$1
    completer_qualified: QuotaStatus$1
  }
}

/** Clinicians counted by stage of qualification. */
interface FunnelCounts$1 {
  account_created: number
  learner_qualified: number
  completer_qualified: number
}

/** The outreach of one date: its events by `emitted_at`, in UTC. */
interface OutreachCounts$1 {
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
interface QuotaStatus$1 {
  target: number | null
  count: number
  remaining: number | null
  reached_at: string | null
}

/** The event is stored. */
interface WebhookReceipt$1 {
  received: true
}

/** A survey saved as a draft. */
interface SurveyCreated$1 {
  id: string
  title: string
  /** `draft` for a created survey. */
  status: string
  questionCount: number
  /** ISO 8601 date-time with `Z` or an offset. */
  createdAt: string
}

/** The body of every error response of the survey and upload endpoints. */
interface LegacyError$1 {
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
interface ValidateResult$1 {
  valid: boolean
  questionCount: number
  caseCount?: number | undefined
}

/** Where to upload a file, and where it is found afterwards. */
interface PresignResult$1 {
  /** Upload here by PUT. */
  url: string
  /** Refer to the file by this after the upload. */
  publicUrl: string
  /** Seconds until the upload URL expires. */
  expiresIn: number
}

/** An event that the service sends. */
interface ServiceEvent<Type extends keyof ServiceEventData> extends EnvelopeMembers {
  event_type: Type
  source: "service"
  data: ServiceEventData[Type]
  campaign?: CampaignSummary$1 | null | undefined
  program?: ProgramSummary$1 | null | undefined
  recipient?: RecipientRecord$1 | null | undefined
}

/** The schema of a value. `Input` differs if fields have defaults. */
interface Schema<Output, Input = Output> extends z.ZodType<Output, Input> {
}

declare const CampaignSummary: Schema<CampaignSummary>;
type CampaignSummary = CampaignSummary$1;
declare const ProgramSummary: Schema<ProgramSummary>;
type ProgramSummary = ProgramSummary$1;

/** Authentication of an operation: none, bearer key, bearer key with a scope, or webhook signature. */
type Auth = {
    readonly kind: "none";
} | {
    readonly kind: "bearer";
} | {
    readonly kind: "scope";
    readonly scope: Scope;
} | {
    readonly kind: "signature";
};
/** A request header that an operation reads, in addition to its credential. */
type RequestHeader = "If-None-Match" | "Idempotency-Key";
/** A response header that an operation sets, in addition to the common ones. */
type ResponseHeader = "ETag" | "Cache-Control";
/** A JSON request body and its maximum size in bytes. */
interface RequestBody {
    readonly schema: z.ZodType;
    readonly maxBytes: number;
}
/** A successful response; `body` is null if there is none. */
interface ResponseRow {
    readonly description: string;
    readonly body: z.ZodType | null;
    readonly headers: readonly ResponseHeader[];
}
/** Error code for an invalid parameter, if it isn't `INVALID_PARAMETER`. */
type ParameterCodes = Readonly<Record<string, PartnerErrorCode>>;
interface Row {
    readonly operationId: string;
    readonly method: "GET" | "POST";
    readonly path: `/v1/${string}`;
    readonly tag: "Health" | "Tokens" | "Events" | "Campaigns" | "Digest" | "Webhooks" | "Drafts";
    readonly summary: string;
    readonly description: string;
    readonly auth: Auth;
    /** True for an operation that is published but not served. */
    readonly draft: boolean;
    /** Path parameters as percent-decoded text. */
    readonly pathParameters: z.ZodObject;
    /** Query parameters by wire name. Accepts the output of `rawQuery` and rejects unknown names. */
    readonly query: z.ZodObject;
    readonly parameterCodes: ParameterCodes;
    readonly headers: readonly RequestHeader[];
    readonly body: RequestBody | null;
    readonly responses: Readonly<Record<number, ResponseRow>>;
}
/** One row of the contract: everything about an operation except its implementation. */
type Operation = Row & ({
    readonly envelope: "partner";
    readonly errors: readonly PartnerErrorCode[];
} | {
    readonly envelope: "legacy";
    readonly errors: readonly LegacyErrorCode[];
});
/** Decoded request of an operation. */
interface RequestOf<Op extends Operation> {
    readonly path: z.output<Op["pathParameters"]>;
    readonly query: z.output<Op["query"]>;
    readonly body: Op["body"] extends {
        readonly schema: infer Schema extends z.ZodType;
    } ? z.output<Schema> : undefined;
}
/** Arguments of a call: decoded values; parameters with defaults are optional. */
interface CallOf<Op extends Operation> {
    readonly path: z.output<Op["pathParameters"]>;
    readonly query: {
        readonly [Name in keyof z.input<Op["query"]>]: Name extends keyof z.output<Op["query"]> ? z.output<Op["query"]>[Name] : never;
    };
    readonly body: Op["body"] extends {
        readonly schema: infer Schema extends z.ZodType;
    } ? z.input<Schema> : undefined;
}
/** Successful response of an operation: a status with its body and headers. */
type ResponseOf<Op extends Operation> = {
    [Status in keyof Op["responses"] & number]: Op["responses"][Status] extends {
        readonly body: infer Body;
        readonly headers: readonly (infer Header)[];
    } ? {
        readonly status: Status;
        readonly body: Body extends z.ZodType ? z.output<Body> : null;
        readonly headers: Readonly<Record<Header & string, string>>;
    } : never;
}[keyof Op["responses"] & number];
/** The error codes that an operation can return. */
type ErrorCodeOf<Op extends Operation> = Op["errors"][number];

/** Reason for rejecting an input: the error code, the parameter, and a message that quotes no value. */
interface Refusal {
    readonly code: PartnerErrorCode;
    readonly parameter: string;
    readonly message: string;
}
/** A decoded value, or the reason for rejecting it. */
type Decoded<Value> = {
    readonly ok: true;
    readonly value: Value;
} | {
    readonly ok: false;
    readonly refusal: Refusal;
};
/** Query parameters as text; a list for names that end in `[]` or occur repeatedly. */
type RawQuery = Readonly<Record<string, string | readonly string[]>>;
/** Groups percent-decoded query pairs, such as a `URLSearchParams`, for an operation's `query` schema. */
declare function rawQuery(pairs: Iterable<readonly [string, string]>): RawQuery;
/**
 * Decodes path parameters, a query or a body by its schema.
 *
 * Returns the first fault: `MISSING_PARAMETER` for a missing value, otherwise the parameter's own code in `codes` or
 * `INVALID_PARAMETER`. `parameter` is the wire name, a dotted path within a body, or "body".
 */
declare function decode<Schema extends z.ZodType>(schema: Schema, input: unknown, codes?: ParameterCodes): Decoded<z.output<Schema>>;

declare const FunnelCounts: Schema<FunnelCounts>;
type FunnelCounts = FunnelCounts$1;
/** Outreach counts of one date. */
declare const OutreachCounts: Schema<OutreachCounts>;
type OutreachCounts = OutreachCounts$1;
/** Progress of one program stage towards its target. */
declare const QuotaStatus: Schema<QuotaStatus>;
type QuotaStatus = QuotaStatus$1;
declare const DigestRecord: Schema<DigestRecord>;
type DigestRecord = DigestRecord$1;
declare const Digest: Schema<Digest>;
type Digest = Digest$1;

declare const PartnerError: Schema<PartnerError>;
type PartnerError = PartnerError$1;
declare const LegacyError: Schema<LegacyError>;
type LegacyError = LegacyError$1;

/** Maximum number of recipients in one `outreach.recipients_published` event. */
declare const RECIPIENTS_PER_EVENT = 500;
/** The `data` of an event, by type. */
type EventData<Type extends EventType> = (ServiceEventData & ConsumerEventData)[Type];
/** Definition of an event type: direction, schema of `data` (unknown keys pass) and schema of the envelope. */
type EventDefinition<Type extends EventType> = {
    readonly direction: (typeof EVENT_TYPES)[Type]["direction"];
    readonly description: string;
    readonly data: Schema<EventData<Type>>;
    readonly envelope: Schema<EventEnvelope<Type>>;
};
/** All event types: direction, schema of `data` (unknown keys pass) and schema of the envelope. */
declare const EVENTS: { readonly [Type in EventType]: EventDefinition<Type>; };
/** An event on the wire, by type. */
type EventEnvelope<Type extends EventType = EventType> = {
    [T in Type]: T extends keyof ServiceEventData ? ServiceEvent<T> : T extends keyof ConsumerEventData ? ConsumerEvent<T> : never;
}[Type];
/** An event of any known type, as sent on the wire. */
declare const EventEnvelope: Schema<EventEnvelope>;
type FeedEvent = EventEnvelope<FeedEventType>;
declare const FeedEvent: Schema<FeedEvent>;
declare const EventList: Schema<List<FeedEvent>>;

declare const OptionObject: Schema<OptionObject>;
type OptionObject = OptionObject$1;
declare const subQuestion: z.ZodObject<{
    type: z.ZodEnum<{
        scale: "scale";
        "single-choice": "single-choice";
        "multiple-choice": "multiple-choice";
        "yes-no": "yes-no";
    }>;
    label: z.ZodString;
    required: z.ZodDefault<z.ZodBoolean>;
    options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, Schema<OptionObject$1, OptionObject$1>]>>>;
    points: z.ZodDefault<z.ZodInt>;
    labels: z.ZodOptional<z.ZodObject<{
        start: z.ZodOptional<z.ZodString>;
        end: z.ZodOptional<z.ZodString>;
    }, z.core.$strict>>;
}, z.core.$strict>;
type SubQuestionInput = SubQuestionInput$1;
/** A row of a compound question, decoded, with defaults. */
interface SubQuestion extends z.output<typeof subQuestion> {
}
/** A row of a compound question. */
declare const SubQuestion: Schema<SubQuestion, SubQuestionInput>;
declare const question: z.ZodObject<{
    type: z.ZodEnum<{
        number: "number";
        scale: "scale";
        "single-choice": "single-choice";
        "multiple-choice": "multiple-choice";
        "yes-no": "yes-no";
        text: "text";
        maxdiff: "maxdiff";
        compound: "compound";
    }>;
    text: z.ZodString;
    description: z.ZodOptional<z.ZodString>;
    required: z.ZodDefault<z.ZodBoolean>;
    placeholder: z.ZodOptional<z.ZodString>;
    voiceEnabled: z.ZodDefault<z.ZodBoolean>;
    validation: z.ZodOptional<z.ZodObject<{
        minLength: z.ZodOptional<z.ZodInt>;
        maxLength: z.ZodOptional<z.ZodInt>;
        min: z.ZodOptional<z.ZodNumber>;
        max: z.ZodOptional<z.ZodNumber>;
    }, z.core.$strict>>;
    options: z.ZodOptional<z.ZodArray<z.ZodUnion<readonly [z.ZodString, Schema<OptionObject$1, OptionObject$1>]>>>;
    allowOther: z.ZodDefault<z.ZodBoolean>;
    maxSelections: z.ZodOptional<z.ZodInt>;
    randomizeOptions: z.ZodDefault<z.ZodBoolean>;
    points: z.ZodDefault<z.ZodInt>;
    labels: z.ZodOptional<z.ZodObject<{
        start: z.ZodOptional<z.ZodString>;
        end: z.ZodOptional<z.ZodString>;
        points: z.ZodOptional<z.ZodArray<z.ZodString>>;
    }, z.core.$strict>>;
    visualization: z.ZodDefault<z.ZodEnum<{
        slider: "slider";
        likert: "likert";
        semantic: "semantic";
        descriptive: "descriptive";
        frequency: "frequency";
        comparative: "comparative";
        numerical: "numerical";
        graphic: "graphic";
        "multi-dimension": "multi-dimension";
    }>>;
    showLabels: z.ZodDefault<z.ZodBoolean>;
    showValue: z.ZodDefault<z.ZodBoolean>;
    flipped: z.ZodDefault<z.ZodBoolean>;
    yesText: z.ZodDefault<z.ZodString>;
    noText: z.ZodDefault<z.ZodString>;
    items: z.ZodOptional<z.ZodArray<z.ZodString>>;
    config: z.ZodOptional<z.ZodObject<{
        itemsPerTask: z.ZodOptional<z.ZodInt>;
        totalTasks: z.ZodOptional<z.ZodInt>;
    }, z.core.$strict>>;
    contextHeader: z.ZodOptional<z.ZodString>;
    subQuestions: z.ZodOptional<z.ZodArray<Schema<SubQuestion, SubQuestionInput$1>>>;
}, z.core.$strict>;
type QuestionInput = QuestionInput$1;
/** A survey question, decoded, with defaults. */
interface Question extends z.output<typeof question> {
}
/** A survey question. */
declare const Question: Schema<Question, QuestionInput>;

declare const Publication: Schema<Publication>;
type Publication = Publication$1;
declare const clinicalCase: z.ZodObject<{
    title: z.ZodString;
    content: z.ZodString;
    questions: z.ZodArray<Schema<Question, QuestionInput$1>>;
    ref: z.ZodOptional<z.ZodString>;
    prompt: z.ZodOptional<z.ZodString>;
    publication: z.ZodOptional<Schema<Publication$1, Publication$1>>;
    keyPoints: z.ZodOptional<z.ZodArray<z.ZodString>>;
    summary: z.ZodOptional<z.ZodString>;
    headerLabel: z.ZodOptional<z.ZodString>;
    reflectionLabel: z.ZodOptional<z.ZodString>;
    introLabel: z.ZodOptional<z.ZodString>;
}, z.core.$strict>;
type CaseInput = CaseInput$1;
/** A clinical case, decoded, with defaults. */
interface Case extends z.output<typeof clinicalCase> {
}
/** A clinical case and its questions. */
declare const Case: Schema<Case, CaseInput>;
declare const AudienceInput: Schema<AudienceInput>;
type AudienceInput = AudienceInput$1;
/** Audiences of a survey. */
declare const Targeting: Schema<Targeting>;
type Targeting = Targeting$1;
declare const surveyInput: z.ZodObject<{
    title: z.ZodString;
    estimatedTime: z.ZodObject<{
        min: z.ZodInt;
        max: z.ZodInt;
    }, z.core.$strict>;
    incentive: z.ZodNumber;
    description: z.ZodOptional<z.ZodString>;
    briefDescription: z.ZodOptional<z.ZodString>;
    sponsor: z.ZodOptional<z.ZodString>;
    background: z.ZodOptional<z.ZodString>;
    directions: z.ZodOptional<z.ZodString>;
    outcomes: z.ZodOptional<z.ZodString>;
    format: z.ZodDefault<z.ZodEnum<{
        standard: "standard";
        "case-based": "case-based";
    }>>;
    questions: z.ZodOptional<z.ZodArray<Schema<Question, QuestionInput$1>>>;
    introQuestions: z.ZodOptional<z.ZodArray<Schema<Question, QuestionInput$1>>>;
    cases: z.ZodOptional<z.ZodArray<Schema<Case, CaseInput$1>>>;
    closingQuestions: z.ZodOptional<z.ZodArray<Schema<Question, QuestionInput$1>>>;
    targeting: z.ZodOptional<Schema<Targeting$1, Targeting$1>>;
}, z.core.$strict>;
/** A survey, decoded, with defaults. */
interface Survey extends z.output<typeof surveyInput> {
}
type SurveyInput = SurveyInput$1;
/**
 * A submitted survey.
 *
 * Rejects unknown keys at every level, so that misspelled optional fields aren't silently lost, and the fields
 * of the other format.
 */
declare const SurveyInput: Schema<Survey, SurveyInput>;
declare const SurveyCreated: Schema<SurveyCreated>;
type SurveyCreated = SurveyCreated$1;
declare const ValidateResult: Schema<ValidateResult>;
type ValidateResult = ValidateResult$1;
declare const PresignResult: Schema<PresignResult>;
type PresignResult = PresignResult$1;

/** The contract: all operations of the API, by id. */
declare const operations: {
    readonly getHealth: {
        readonly operationId: "getHealth";
        readonly path: "/v1/health";
        readonly tag: "Health";
        readonly summary: "Check health";
        readonly description: "Reports that the service is reachable. No rate limit.";
        readonly auth: {
            readonly kind: "none";
        };
        readonly headers: readonly [];
        readonly responses: {
            readonly 200: {
                readonly description: "The service is reachable.";
                readonly body: Schema<Health$1, Health$1>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_PARAMETER", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly body: null;
    };
    readonly getToken: {
        readonly operationId: "getToken";
        readonly path: "/v1/partners/consumer/tokens/{token}";
        readonly tag: "Tokens";
        readonly summary: "Resolve one token";
        readonly description: "For ad-hoc and debugging use only: a partner's redirect handler must not call it on the click path. The ETag is derived from `updated_at`.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "tokens:read";
        };
        readonly pathParameters: z.ZodObject<{
            token: z.ZodString;
        }, z.core.$strict>;
        readonly query: z.ZodObject<{
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
            }>>, z.ZodTransform<("campaign" | "program")[], ("campaign" | "program")[]>>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly token: "INVALID_TOKEN";
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly headers: readonly ["If-None-Match", "Idempotency-Key"];
        readonly responses: {
            readonly 200: {
                readonly description: "The recipient record.";
                readonly body: Schema<RecipientRecord$1, RecipientRecord$1>;
                readonly headers: readonly ["ETag", "Cache-Control"];
            };
            readonly 304: {
                readonly description: "`If-None-Match` matches the current ETag.";
                readonly body: null;
                readonly headers: readonly ["ETag", "Cache-Control"];
            };
        };
        readonly errors: readonly ["INVALID_TOKEN", "INVALID_EXPAND", "TOKEN_NOT_FOUND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly body: null;
    };
    readonly listTokens: {
        readonly operationId: "listTokens";
        readonly path: "/v1/partners/consumer/tokens";
        readonly tag: "Tokens";
        readonly summary: "List recipient records since a time";
        readonly description: "Records updated at or after `since`, in the stable order of (`updated_at`, id).";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "tokens:read";
        };
        readonly query: z.ZodObject<{
            cursor: z.ZodOptional<z.ZodString>;
            limit: z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
            }>>, z.ZodTransform<("campaign" | "program")[], ("campaign" | "program")[]>>>;
            since: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly responses: {
            readonly 200: {
                readonly description: "One page of recipient records.";
                readonly body: Schema<List<RecipientRecord$1>, List<RecipientRecord$1>>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_EXPAND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly listEvents: {
        readonly operationId: "listEvents";
        readonly path: "/v1/partners/consumer/events";
        readonly tag: "Events";
        readonly summary: "List outreach events since a time";
        readonly description: "Events of traffic campaigns under partner-bound programs, emitted at or after `since`. Deduplicate by `event_id`, as with webhooks; an early `since` backfills history.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "events:read";
        };
        readonly query: z.ZodObject<{
            since: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;
            cursor: z.ZodOptional<z.ZodString>;
            limit: z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
            type: z.ZodOptional<z.ZodEnum<{
                "outreach.email_sent": "outreach.email_sent";
                "outreach.email_bounced": "outreach.email_bounced";
                "outreach.email_opened": "outreach.email_opened";
                "outreach.email_clicked": "outreach.email_clicked";
            }>>;
            "types[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                "outreach.email_sent": "outreach.email_sent";
                "outreach.email_bounced": "outreach.email_bounced";
                "outreach.email_opened": "outreach.email_opened";
                "outreach.email_clicked": "outreach.email_clicked";
            }>>, z.ZodTransform<("outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked")[], ("outreach.email_sent" | "outreach.email_bounced" | "outreach.email_opened" | "outreach.email_clicked")[]>>>;
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
                recipient: "recipient";
            }>>, z.ZodTransform<("campaign" | "program" | "recipient")[], ("campaign" | "program" | "recipient")[]>>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly type: "INVALID_TYPE_FILTER";
            readonly "types[]": "INVALID_TYPE_FILTER";
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly responses: {
            readonly 200: {
                readonly description: "One page of event envelopes.";
                readonly body: Schema<List<FeedEvent>, List<FeedEvent>>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_TYPE_FILTER", "INVALID_EXPAND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly listCampaignRecipients: {
        readonly operationId: "listCampaignRecipients";
        readonly path: "/v1/partners/consumer/campaigns/{id}/recipients";
        readonly tag: "Campaigns";
        readonly summary: "List recipients of a campaign";
        readonly description: "An unknown campaign has no recipients.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "recipients:read";
        };
        readonly pathParameters: z.ZodObject<{
            id: z.ZodString;
        }, z.core.$strict>;
        readonly query: z.ZodObject<{
            cursor: z.ZodOptional<z.ZodString>;
            limit: z.ZodDefault<z.ZodPipe<z.ZodString, z.ZodTransform<number, string>>>;
            "expand[]": z.ZodDefault<z.ZodPipe<z.ZodArray<z.ZodEnum<{
                campaign: "campaign";
                program: "program";
            }>>, z.ZodTransform<("campaign" | "program")[], ("campaign" | "program")[]>>>;
        }, z.core.$strict>;
        readonly parameterCodes: {
            readonly id: "INVALID_CAMPAIGN_ID";
            readonly "expand[]": "INVALID_EXPAND";
        };
        readonly responses: {
            readonly 200: {
                readonly description: "One page of recipient records.";
                readonly body: Schema<List<RecipientRecord$1>, List<RecipientRecord$1>>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_CAMPAIGN_ID", "INVALID_EXPAND", "UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly getDigest: {
        readonly operationId: "getDigest";
        readonly path: "/v1/partners/consumer/digest";
        readonly tag: "Digest";
        readonly summary: "Read the daily digest";
        readonly description: "One record per partner-bound program of the caller's organization, for one UTC date. A future date is rejected.";
        readonly auth: {
            readonly kind: "scope";
            readonly scope: "digest:read";
        };
        readonly query: z.ZodObject<{
            date: z.ZodISODate;
        }, z.core.$strict>;
        readonly responses: {
            readonly 200: {
                readonly description: "The digest.";
                readonly body: Schema<Digest$1, Digest$1>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["UNAUTHORIZED", "INSUFFICIENT_SCOPE", "INVALID_PARAMETER", "MISSING_PARAMETER", "IDEMPOTENCY_KEY_REUSED", "IDEMPOTENCY_KEY_IN_USE", "RATE_LIMITED", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly method: "GET";
        readonly envelope: "partner";
        readonly draft: false;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
    };
    readonly receiveWebhook: {
        readonly operationId: "receiveWebhook";
        readonly method: "POST";
        readonly path: "/v1/partners/consumer/webhooks/{endpoint_id}";
        readonly tag: "Webhooks";
        readonly summary: "Receive a signed event";
        readonly description: "The signature is verified over the raw body before it is parsed as JSON, with any `Content-Type`. Acknowledged once stored; a repeated `event_id` and an unknown event type are acknowledged too.";
        readonly auth: {
            readonly kind: "signature";
        };
        readonly pathParameters: z.ZodObject<{
            endpoint_id: z.ZodString;
        }, z.core.$strict>;
        readonly headers: readonly [];
        readonly body: {
            readonly schema: Schema<InboundEvent$1, InboundEvent$1>;
            readonly maxBytes: 1048576;
        };
        readonly responses: {
            readonly 200: {
                readonly description: "The event is stored.";
                readonly body: Schema<WebhookReceipt$1, WebhookReceipt$1>;
                readonly headers: readonly [];
            };
        };
        readonly errors: readonly ["INVALID_SIGNATURE", "INVALID_PARAMETER", "MISSING_PARAMETER", "PAYLOAD_TOO_LARGE", "UNSUPPORTED_MEDIA_TYPE", "NOT_ACCEPTABLE", "INTERNAL_ERROR", "SERVICE_UNAVAILABLE"];
        readonly envelope: "partner";
        readonly draft: false;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
    };
    readonly createSurvey: {
        readonly operationId: "createSurvey";
        readonly method: "POST";
        readonly path: "/v1/surveys";
        readonly summary: "Create a survey (draft, not served)";
        readonly description: "Will save the survey as a draft. Until then it returns 501.";
        readonly body: {
            readonly schema: Schema<Survey, SurveyInput$1>;
            readonly maxBytes: 1048576;
        };
        readonly responses: {
            readonly 201: {
                readonly description: "The survey is saved as a draft.";
                readonly body: Schema<SurveyCreated$1, SurveyCreated$1>;
                readonly headers: readonly [];
            };
        };
        readonly tag: "Drafts";
        readonly auth: {
            readonly kind: "bearer";
        };
        readonly envelope: "legacy";
        readonly draft: true;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly errors: readonly ["VALIDATION_ERROR", "UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"];
    };
    readonly validateSurvey: {
        readonly operationId: "validateSurvey";
        readonly method: "POST";
        readonly path: "/v1/surveys/validate";
        readonly summary: "Validate a survey (draft, not served)";
        readonly description: "Will validate the survey without saving it. Until then it returns 501.";
        readonly body: {
            readonly schema: Schema<Survey, SurveyInput$1>;
            readonly maxBytes: 1048576;
        };
        readonly responses: {
            readonly 200: {
                readonly description: "The survey is valid.";
                readonly body: Schema<ValidateResult$1, ValidateResult$1>;
                readonly headers: readonly [];
            };
        };
        readonly tag: "Drafts";
        readonly auth: {
            readonly kind: "bearer";
        };
        readonly envelope: "legacy";
        readonly draft: true;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly query: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly errors: readonly ["VALIDATION_ERROR", "UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"];
    };
    readonly presignUpload: {
        readonly operationId: "presignUpload";
        readonly method: "GET";
        readonly path: "/v1/uploads/presign";
        readonly summary: "Get a pre-signed upload URL (draft, not served)";
        readonly description: "Will give an address to upload a file to. Until then it returns 501.";
        readonly query: z.ZodObject<{
            filename: z.ZodString;
            contentType: z.ZodDefault<z.ZodString>;
        }, z.core.$strict>;
        readonly responses: {
            readonly 200: {
                readonly description: "Where to upload.";
                readonly body: Schema<PresignResult$1, PresignResult$1>;
                readonly headers: readonly [];
            };
        };
        readonly tag: "Drafts";
        readonly auth: {
            readonly kind: "bearer";
        };
        readonly envelope: "legacy";
        readonly draft: true;
        readonly pathParameters: z.ZodObject<{}, z.core.$strict>;
        readonly parameterCodes: {};
        readonly headers: readonly ["Idempotency-Key"];
        readonly body: null;
        readonly errors: readonly ["VALIDATION_ERROR", "UNAUTHORIZED", "RATE_LIMITED", "INTERNAL_ERROR", "NOT_IMPLEMENTED", "SERVICE_UNAVAILABLE"];
    };
};
/** The contract's rows by operation id. */
type Operations = typeof operations;
type OperationId = keyof Operations;

declare const eventExamples: {
    readonly [Type in EventType]: EventEnvelope<Type>;
};
type BodyOf<Response> = Response extends {
    readonly body: infer Body;
} ? Exclude<Body, null> : never;
interface Example<Op extends Operation> {
    readonly request?: Op["body"] extends {
        readonly schema: infer Schema extends z.ZodType;
    } ? z.input<Schema> : never;
    readonly response: ResponseOf<Op> extends infer Response ? BodyOf<Response> : never;
}
/** Example request and response of each operation, by operation id. */
declare const examples: {
    readonly [Id in OperationId]: Example<Operations[Id]>;
};

/** Request headers that operations read, in addition to the credential. */
declare const requestHeaders: {
    readonly "If-None-Match": z.ZodString;
    readonly "Idempotency-Key": z.ZodString;
};

declare const Health: Schema<Health>;
type Health = Health$1;

/** Short-link token of a recipient: six base62 characters. */
declare const Token: z.ZodString;
/** National provider identifier of a clinician: ten digits. */
declare const Npi: z.ZodString;
/** An e-mail address. */
declare const Email: z.ZodEmail;
declare const RecipientId: z.ZodString;
declare const CampaignId: z.ZodString;
declare const ProgramId: z.ZodString;
declare const EventId: z.ZodString;
/** Request id, `req_<hex>`; equals the `X-Request-Id` response header. */
declare const RequestId: z.ZodString;
declare const WebhookEndpointId: z.ZodString;

/** Creates the schema of a page of `item`; `id` is its name in the OpenAPI document. */
declare function list<Item extends z.ZodType>(item: Item, id: string): Schema<List<z.output<Item>>, List<z.input<Item>>>;

/** A time emitted by the service: UTC with six fraction digits, `2026-11-21T02:45:29.123456Z`. */
declare const Timestamp: z.ZodISODateTime;
/** A time accepted in a body: any ISO 8601 date-time with `Z` or an offset, stored as received. */
declare const Instant: z.ZodString;
/** An existing calendar date, `YYYY-MM-DD`. */
declare const CalendarDate: z.ZodISODate;
/** The `since` parameter: a date-time with `Z` or an offset, decoded to UTC text with six fraction digits. */
declare const Since: z.ZodPipe<z.ZodString, z.ZodTransform<string, string>>;

/** A recipient: a token bound to a clinician, an e-mail address, a campaign and a program. */
declare const RecipientRecord: Schema<RecipientRecord>;
type RecipientRecord = RecipientRecord$1;
declare const RecipientList: Schema<List<RecipientRecord>>;

/**
 * A received envelope with any event type and unchecked `data`, so that unknown types are stored
 * and acknowledged. For known types, `EVENTS[type].data` is the schema of `data`.
 */
declare const InboundEvent: Schema<InboundEvent>;
type InboundEvent = InboundEvent$1;
declare const WebhookReceipt: Schema<WebhookReceipt>;
type WebhookReceipt = WebhookReceipt$1;

export { AudienceInput, CalendarDate, CampaignId, CampaignSummary, Case, Digest, DigestRecord, EVENTS, EVENT_TYPES, Email, EventEnvelope, EventId, EventList, EventType, FeedEvent, FeedEventType, FunnelCounts, Health, InboundEvent, Instant, LegacyError, Npi, OptionObject, OutreachCounts, PartnerError, PresignResult, ProgramId, ProgramSummary, Publication, Question, QuotaStatus, RECIPIENTS_PER_EVENT, RecipientId, RecipientList, RecipientRecord, RequestId, Scope, Since, SubQuestion, SurveyCreated, SurveyInput, Targeting, Timestamp, Token, ValidateResult, WebhookEndpointId, WebhookReceipt, decode, eventExamples, examples, list, operations, rawQuery, requestHeaders };
export type { Auth, CallOf, CaseInput, ConsumerEvent, ConsumerEventData, Decoded, EnvelopeMembers, ErrorCodeOf, EventData, EventDefinition, List, Operation, OperationId, Operations, ParameterCodes, QuestionInput, RawQuery, Refusal, RequestBody, RequestHeader, RequestOf, ResponseHeader, ResponseOf, ResponseRow, Schema, ServiceEvent, ServiceEventData, SubQuestionInput, Survey };

// @outreach/contract/catalogs
import { ErrorCatalog, StandardSchema } from '@outreach/error-catalog';
import { PartnerContext } from '@outreach/error-catalog/partner';

declare const types: {
    readonly authentication_error: {
        readonly retry: "no";
    };
    readonly invalid_request_error: {
        readonly retry: "no";
    };
    readonly permission_error: {
        readonly retry: "no";
    };
    readonly rate_limit_error: {
        readonly retry: "after";
    };
    readonly idempotency_error: {
        readonly retry: "no";
    };
    readonly api_error: {
        readonly retry: "backoff";
    };
};
declare const codes: {
    readonly UNAUTHORIZED: {
        readonly type: "authentication_error";
        readonly status: 401;
        readonly title: "bearer missing, malformed, expired or revoked";
    };
    readonly INSUFFICIENT_SCOPE: {
        readonly type: "permission_error";
        readonly status: 403;
        readonly title: "token lacks the required scope";
    };
    readonly INVALID_TOKEN: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "URL token does not match `[0-9A-Za-z]{6}`";
    };
    readonly INVALID_CAMPAIGN_ID: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "campaign id is not the `cmp_<hex>` form";
    };
    readonly TOKEN_NOT_FOUND: {
        readonly type: "invalid_request_error";
        readonly status: 404;
        readonly title: "no record for the token";
    };
    readonly MISSING_PARAMETER: {
        readonly details: StandardSchema<{
            readonly [member: string]: unknown;
            readonly parameter: string;
        }, {
            readonly [member: string]: unknown;
            readonly parameter: string;
        }>;
        readonly example: {
            readonly parameter: "since";
        };
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "a required query or body parameter is missing";
    };
    readonly INVALID_PARAMETER: {
        readonly details: StandardSchema<{
            readonly [member: string]: unknown;
            readonly parameter: string;
        }, {
            readonly [member: string]: unknown;
            readonly parameter: string;
        }>;
        readonly example: {
            readonly parameter: "since";
        };
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "parameter present but wrong type, format or value";
    };
    readonly INVALID_EXPAND: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "value in `expand[]` not allowed for the endpoint";
    };
    readonly INVALID_TYPE_FILTER: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "value in `type` or `types[]` outside the allowed enum";
    };
    readonly IDEMPOTENCY_KEY_REUSED: {
        readonly type: "idempotency_error";
        readonly status: 409;
        readonly title: "same `Idempotency-Key` with a different body";
    };
    readonly RATE_LIMITED: {
        readonly type: "rate_limit_error";
        readonly status: 429;
        readonly title: "key exceeded its rate limit; `Retry-After` present";
    };
    readonly INTERNAL_ERROR: {
        readonly type: "api_error";
        readonly status: 500;
        readonly title: "unexpected server error";
    };
    readonly NOT_FOUND: {
        readonly type: "invalid_request_error";
        readonly status: 404;
        readonly title: "no such path";
    };
    readonly METHOD_NOT_ALLOWED: {
        readonly type: "invalid_request_error";
        readonly status: 405;
        readonly title: "the path does not answer this method; `Allow` names those it does";
    };
    readonly NOT_ACCEPTABLE: {
        readonly type: "invalid_request_error";
        readonly status: 406;
        readonly title: "`Accept` allows no media type of the endpoint";
    };
    readonly PAYLOAD_TOO_LARGE: {
        readonly type: "invalid_request_error";
        readonly status: 413;
        readonly title: "request body is larger than the endpoint takes";
    };
    readonly UNSUPPORTED_MEDIA_TYPE: {
        readonly type: "invalid_request_error";
        readonly status: 415;
        readonly title: "request body has a `Content-Encoding`, which the endpoint does not take";
    };
    readonly IDEMPOTENCY_KEY_IN_USE: {
        readonly type: "idempotency_error";
        readonly status: 409;
        readonly title: "the first request with the same `Idempotency-Key` is still running";
    };
    readonly INVALID_SIGNATURE: {
        readonly type: "authentication_error";
        readonly status: 401;
        readonly title: "webhook `X-Signature` missing, malformed, outside the replay window or matching no active secret";
    };
    readonly SERVICE_UNAVAILABLE: {
        readonly type: "api_error";
        readonly status: 503;
        readonly title: "the service cannot answer for the moment";
    };
};
type PartnerErrorType = keyof typeof types;
type PartnerErrorCode = keyof typeof codes;
/** The error catalog of the Outreach Partner API. Source: its specification, Errors, Partner envelope. */
type PartnerCatalog = ErrorCatalog<typeof types, typeof codes, PartnerContext>;
/** Creates the partner catalog. `doc_url` points to the published guides at `docsUrl`, with or without a trailing slash. */
declare function definePartnerCatalog(docsUrl: string): PartnerCatalog;
/** The partner catalog for readers and examples. Its `doc_url` is a placeholder. */
declare const partnerCatalog: PartnerCatalog;
declare const legacyCodes: {
    readonly VALIDATION_ERROR: {
        readonly type: "invalid_request_error";
        readonly status: 400;
        readonly title: "the submitted survey or query is invalid; `errors` lists the faults";
    };
    readonly UNAUTHORIZED: {
        readonly type: "authentication_error";
        readonly status: 401;
        readonly title: "bearer missing, malformed, expired or revoked";
    };
    readonly METHOD_NOT_ALLOWED: {
        readonly type: "invalid_request_error";
        readonly status: 405;
        readonly title: "the path does not serve the method; `Allow` names those that it serves";
    };
    readonly RATE_LIMITED: {
        readonly type: "rate_limit_error";
        readonly status: 429;
        readonly title: "key exceeded its rate limit; `Retry-After` present";
    };
    readonly INTERNAL_ERROR: {
        readonly type: "api_error";
        readonly status: 500;
        readonly title: "unexpected server error";
    };
    readonly NOT_IMPLEMENTED: {
        readonly type: "invalid_request_error";
        readonly status: 501;
        readonly title: "the endpoint is a draft and is not served";
    };
    readonly SERVICE_UNAVAILABLE: {
        readonly type: "api_error";
        readonly status: 503;
        readonly title: "the service cannot answer for the moment";
    };
};
type LegacyErrorCode = keyof typeof legacyCodes;
/** The catalog of the survey and upload endpoints. Source: the specification, Errors, Legacy envelope. */
declare const legacyCatalog: ErrorCatalog<typeof types, typeof legacyCodes>;

export { definePartnerCatalog, legacyCatalog, partnerCatalog };
export type { LegacyErrorCode, PartnerCatalog, PartnerErrorCode, PartnerErrorType };

// @outreach/contract/names
/** Permissions of API keys. */
declare const SCOPES: readonly ["tokens:read", "events:read", "recipients:read", "digest:read"];
/** Permission of an API key. */
type Scope = (typeof SCOPES)[number];
/** All event types with their direction. */
declare const EVENT_TYPES: {
    readonly "outreach.recipients_published": {
        readonly direction: "to_consumer";
        readonly recipients: "listed";
        readonly isInFeed: false;
    };
    readonly "outreach.email_sent": {
        readonly direction: "to_consumer";
        readonly recipients: "one";
        readonly isInFeed: true;
    };
    readonly "outreach.email_bounced": {
        readonly direction: "to_consumer";
        readonly recipients: "one";
        readonly isInFeed: true;
    };
    readonly "outreach.email_opened": {
        readonly direction: "to_consumer";
        readonly recipients: "one";
        readonly isInFeed: true;
    };
    readonly "outreach.email_clicked": {
        readonly direction: "to_consumer";
        readonly recipients: "one";
        readonly isInFeed: true;
    };
    readonly "clinician.account_created": {
        readonly direction: "to_service";
    };
    readonly "clinician.learner_qualified": {
        readonly direction: "to_service";
    };
    readonly "clinician.completer_qualified": {
        readonly direction: "to_service";
    };
};
type EventType = keyof typeof EVENT_TYPES;
/** Event types with a property of `EVENT_TYPES`. */
type EventTypeWith<Property> = {
    [Type in EventType]: (typeof EVENT_TYPES)[Type] extends Property ? Type : never;
}[EventType];
/** Event types of one direction. */
type EventTypeOf<Direction extends "to_consumer" | "to_service"> = EventTypeWith<{
    readonly direction: Direction;
}>;
type FeedEventType = EventTypeWith<{
    readonly isInFeed: true;
}>;
declare const FEED_EVENT_TYPES: readonly FeedEventType[];
/** Bounce reasons of the service. Readers should accept unknown ones. */
declare const BOUNCE_REASONS: readonly ["mailbox_not_found", "mailbox_disabled", "domain_not_found", "address_invalid", "other"];
/** A bounce reason of the service. */
type BounceReason = (typeof BOUNCE_REASONS)[number];

export { BOUNCE_REASONS, EVENT_TYPES, FEED_EVENT_TYPES, SCOPES };
export type { BounceReason, EventType, EventTypeOf, FeedEventType, Scope };
