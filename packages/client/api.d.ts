// @outreach/client
import { P as PartnerError, L as LegacyError, a as List, Q as Queries, H as Health, R as RecipientRecord, F as FeedEvent, D as Digest, W as WebhookReceipt, S as SurveyCreated, V as ValidateResult, b as PresignResult, O as OutboundEvent, c as SurveyInput, C as Checkpoint, E as EventBatch, d as Sleep } from './syncEvents-B9Fe0Gq-.js';
export { A as AudienceInput, e as CampaignSummary, f as CaseInput, g as ConsumerEvent, h as ConsumerEventData, i as DigestRecord, j as EnvelopeMembers, k as FeedEventType, l as FunnelCounts, m as OptionObject, n as OutreachCounts, o as ProgramSummary, p as Publication, q as QuestionInput, r as QuotaStatus, s as ServiceEvent, t as ServiceEventData, u as SubQuestionInput, T as Targeting } from './syncEvents-B9Fe0Gq-.js';

type ErrorType = PartnerError["error"]["type"];
type ErrorCode = PartnerError["error"]["code"] | LegacyError["error"]["code"];
type Faults = readonly Readonly<NonNullable<LegacyError["error"]["errors"]>[number]>[];
/** An unsuccessful or invalid response. Branch on `type`; new codes are added over time. */
declare class ApiError extends Error {
    readonly name: string;
    /** HTTP status. */
    readonly status: number;
    /** Error type. If the response has no error body, derived from its status. */
    readonly type: ErrorType;
    /** Error code; null if the response has no error body, for example from a proxy. */
    readonly code: ErrorCode | null;
    /** Id of the request, for support; null if the response has none. */
    readonly requestId: string | null;
    /** Seconds that the service asks to wait; null if unspecified. */
    readonly retryAfter: number | null;
    /** Free-form details, such as `parameter`. */
    readonly details: Readonly<Record<string, unknown>> | null;
    /** Faults of a submitted survey; empty for other errors. */
    readonly errors: Faults;
    /** Documentation URL of the code. */
    readonly docUrl: string | null;
    constructor(fields: ApiErrorFields, options?: ErrorOptions);
}
/** Fields of an `ApiError`. */
type ApiErrorFields = Omit<ApiError, "name" | "stack" | "cause">;
/** A request without a response. It's unknown whether the service processed it. */
declare class ConnectionError extends Error {
    readonly name: string;
    /** `network`: unreachable or interrupted; `timeout`: no complete response in time; `unreadable`: not a response of the service. */
    readonly reason: "network" | "timeout" | "unreadable";
    /** The message contains only the host of the URL, without path and query. */
    constructor(reason: "network" | "timeout" | "unreadable", url: string, cause?: unknown);
}

/** A paginated list: iterate over its items or its pages. Each iteration sends its own requests, starting from the first page. */
interface Pages<Item> extends AsyncIterable<Item> {
    /** Iterates over pages. A page's `next_cursor` allows another call to continue after it. */
    readonly pages: () => AsyncIterable<List<Item>>;
}

/** The subset of WHATWG `fetch` that the client uses. Node 18 or later, Deno, Bun, workers and undici provide it. */
type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;
/** Request options that the client passes to `fetch`. */
interface FetchRequest {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
}
/** The subset of a response that the client reads. */
interface FetchResponse {
    readonly status: number;
    readonly headers: {
        get(name: string): string | null;
    };
    text(): Promise<string>;
}

/** Rate limit of the API key. */
interface RateLimit {
    /** Requests per window. */
    readonly limit: number;
    /** Remaining requests of the window. */
    readonly remaining: number;
    /** End of the window in Unix seconds. */
    readonly reset: number;
}
/** Response data other than the body. */
interface ResponseInfo {
    /** HTTP status; 304 for a cached record. */
    readonly status: number;
    /** Id of the request, for support; null if the response has none. */
    readonly requestId: string | null;
    /** Null if the response has no rate limit, as for the health check. */
    readonly rateLimit: RateLimit | null;
    /** Returns a header by case-insensitive name; null if it is missing. */
    readonly header: (name: string) => string | null;
}

/** Id of an operation. */
type OperationId = keyof Queries;

/** One attempt of a call before it is sent, without API key, signatures and body. */
interface RequestInfo {
    readonly operation: OperationId;
    readonly method: string;
    readonly url: string;
    /** 1 for the first attempt of a call. */
    readonly attempt: number;
}
/** Result of one attempt. */
interface AttemptInfo {
    readonly request: RequestInfo;
    /** Duration of the attempt, up to the last byte of the response. */
    readonly seconds: number;
    /** Null without a complete response. */
    readonly response: ResponseInfo | null;
    /** Null after a success. */
    readonly error: ApiError | ConnectionError | null;
    /** Seconds until the next attempt; null if there is none. */
    readonly retryInSeconds: number | null;
}
/** Functions that are called for each attempt of each call. If one throws, the call fails with that error. */
interface Hooks {
    /** Called before each attempt. May return headers to add, such as `traceparent`; they can't replace the client's own. */
    readonly onRequest?: ((request: RequestInfo) => HookHeaders | undefined | PromiseLike<HookHeaders | undefined>) | undefined;
    /** Called after each attempt, unless the caller's signal aborted it. */
    readonly onResponse?: ((attempt: AttemptInfo) => unknown) | undefined;
}
type HookHeaders = Readonly<Record<string, string>>;

/** Options of every call. */
interface CallOptions {
    /** Aborts a request or a wait immediately. The call rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** Maximum seconds per attempt. Default: the client's. */
    readonly timeout?: number | undefined;
}

type BareName<Name> = Name extends `${infer Bare}[]` ? Bare : Name;
type Readonlys<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;
/** Query parameters of an operation, by the contract's names without brackets. `since` may be a `Date`. */
type QueryOf<Id extends OperationId> = {
    readonly [Name in keyof Queries[Id] as BareName<Name>]: Readonlys<Queries[Id][Name]> | (Name extends "since" ? Date : never);
};
/** Body of an operation's successful response. */
type BodyOf<Id extends OperationId> = Bodies[Id];
interface Bodies {
    getHealth: Health;
    getToken: RecipientRecord;
    listTokens: List<RecipientRecord>;
    listEvents: List<FeedEvent>;
    listCampaignRecipients: List<RecipientRecord>;
    getDigest: Digest;
    receiveWebhook: WebhookReceipt;
    createSurvey: SurveyCreated;
    validateSurvey: ValidateResult;
    presignUpload: PresignResult;
}
/** Idempotency options of a call. */
interface IdempotencyOptions {
    /** 1 to 255 printable ASCII characters, sent with every attempt. The service keeps the response for a day. */
    readonly idempotencyKey?: string | undefined;
}
/** Options of a reconciliation. */
interface SyncOptions extends Omit<QueryOf<"listEvents">, "since" | "cursor">, CallOptions {
    /** The stored checkpoint; the first time `{ since }`, the earliest time of the events. */
    readonly checkpoint: Checkpoint | {
        readonly since: string | Date;
    };
    /** Seconds between passes over the feed. Default 900. null stops after one pass. */
    readonly everySeconds?: number | null | undefined;
    /** Whole seconds that each pass reads again, in case the service's clock was set back. Default 5. */
    readonly overlapSeconds?: number | undefined;
}
/** Operations of the Outreach Partner API. */
interface Client {
    /** Returns whether the service is reachable. Doesn't send the key. */
    getHealth(options?: CallOptions): Promise<Health>;
    /** Looks up one token. For ad-hoc use, not for the click path. */
    getToken(token: string, options?: QueryOf<"getToken"> & CallOptions & IdempotencyOptions): Promise<RecipientRecord>;
    /** Lists recipient records updated since a time. */
    listTokens(options: QueryOf<"listTokens"> & CallOptions): Pages<RecipientRecord>;
    /** Lists outreach events emitted since a time. */
    listEvents(options: QueryOf<"listEvents"> & CallOptions): Pages<FeedEvent>;
    /** Lists the recipients of a campaign. */
    listCampaignRecipients(campaignId: string, options?: QueryOf<"listCampaignRecipients"> & CallOptions): Pages<RecipientRecord>;
    /** Reads the digest of a UTC date, `YYYY-MM-DD`. */
    getDigest(date: string, options?: CallOptions & IdempotencyOptions): Promise<Digest>;
    /** Sends a signed event to the service's webhook receiver, which stores it once for its `event_id`. */
    sendEvent(endpointId: string, event: OutboundEvent, options: CallOptions & {
        /** Active signing secrets. The signature has one `v1` entry for each. */
        readonly secrets: readonly string[];
    }): Promise<WebhookReceipt>;
    /** Creates a survey (a draft of the contract, not served yet). Generates an idempotency key if none is given. */
    createSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<SurveyCreated>;
    /** Validates a survey without saving it (a draft of the contract, not served yet). */
    validateSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<ValidateResult>;
    /** Requests an upload URL (a draft of the contract, not served yet). */
    presignUpload(filename: string, options?: Omit<QueryOf<"presignUpload">, "filename"> & CallOptions & IdempotencyOptions): Promise<PresignResult>;
    readonly sync: {
        /** Yields each event since the checkpoint once, in batches. Reads again every 15 minutes until aborted. */
        events(options: SyncOptions): AsyncGenerator<EventBatch, void, void>;
    };
    /** Returns the request id, rate limit and headers that belong to a result, a page or an error of this client. */
    responseOf(result: object): ResponseInfo | undefined;
}

/** Options of `createClient`. */
interface ClientOptions extends Hooks {
    /** The API key. Sent only to `baseUrl`. */
    readonly apiKey: string;
    /** URL of the deployment, with or without `/v1`. */
    readonly baseUrl: string;
    /** Appended to the client's own `User-Agent`, such as `acme-poller/1.2`. */
    readonly userAgent?: string | undefined;
    /** Default: the runtime's `fetch`. */
    readonly fetch?: Fetch | undefined;
    /** Maximum seconds per attempt, up to the last byte of the response. Default 30. */
    readonly timeout?: number | undefined;
    /** Seconds before each retry; each wait is randomly reduced by up to a half. Default 0.5, 1, 2, 4. */
    readonly retryDelays?: readonly number[] | undefined;
    /** Maximum seconds of one wait. If an error requires a longer one, it is thrown. Default 120. */
    readonly longestWait?: number | undefined;
    /** Maximum number of records cached by ETag. Default 1,000; 0 disables the cache. */
    readonly cacheSize?: number | undefined;
    /** Waits between attempts and between passes. Default: the runtime's timer. */
    readonly sleep?: Sleep | undefined;
    /** Uniform in [0, 1). Default: `Math.random`. */
    readonly random?: (() => number) | undefined;
}
/** Creates a client. Throws `TypeError` or `RangeError` on unusable options, such as an empty key. */
declare function createClient({ apiKey, baseUrl, userAgent: addition, fetch, timeout, retryDelays, longestWait, cacheSize, sleep, random, onRequest, onResponse, }: ClientOptions): Client;

export { ApiError, Checkpoint, ConnectionError, Digest, EventBatch, FeedEvent, Health, List, OutboundEvent, PresignResult, Queries, RecipientRecord, Sleep, SurveyCreated, SurveyInput, ValidateResult, WebhookReceipt, createClient };
export type { ApiErrorFields, AttemptInfo, BodyOf, CallOptions, Client, ClientOptions, Fetch, FetchRequest, FetchResponse, Hooks, IdempotencyOptions, OperationId, Pages, QueryOf, RateLimit, RequestInfo, ResponseInfo, SyncOptions };

// @outreach/client/checkpoints
import { C as CheckpointStore, T as TableOptions } from './CheckpointStore-BcvlDLcR.js';
import { Checkpoint } from './index.js';

/** Any PostgreSQL client with a `query` method, such as `pg`, Neon or PGlite. */
interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<{
        readonly rows: readonly unknown[];
    }>;
}
/** A store in PostgreSQL. */
interface PostgresCheckpointStore extends CheckpointStore {
    /** Creates the table if it doesn't exist. */
    createTable(): Promise<void>;
    load(): Promise<Checkpoint | undefined>;
    /** Saves a checkpoint. Pass the client of the transaction that stores the events as `transaction`. */
    save(checkpoint: Checkpoint, transaction?: QueryClient): Promise<void>;
}
/** Creates a store in PostgreSQL; call `createTable` once. Throws `RangeError` on table names that need quotes. */
declare function postgresCheckpointStore(client: QueryClient, options?: TableOptions): PostgresCheckpointStore;

/** A synchronous SQLite database: `DatabaseSync` of `node:sqlite`, `better-sqlite3`, or `Database` of `bun:sqlite`. */
interface SqliteDatabase {
    prepare(sql: string): {
        get(...values: string[]): unknown;
        run(...values: string[]): unknown;
    };
}
/** A store in SQLite. Its methods are synchronous, so you can call them in a transaction. */
interface SqliteCheckpointStore extends CheckpointStore {
    load(): Checkpoint | undefined;
    save(checkpoint: Checkpoint): void;
}
/**
 * Creates a store in SQLite, including its table. Throws `RangeError` on table names that need quotes.
 *
 * If you save the checkpoint in the transaction that stores the events, no event is lost or repeated.
 */
declare function sqliteCheckpointStore(database: SqliteDatabase, options?: TableOptions): SqliteCheckpointStore;

export { CheckpointStore, TableOptions, postgresCheckpointStore, sqliteCheckpointStore };
export type { PostgresCheckpointStore, QueryClient, SqliteCheckpointStore, SqliteDatabase };

// @outreach/client/checkpoints/file
import { CheckpointStore } from './checkpoints.js';
import { Checkpoint } from './index.js';

/** A store in a file. */
interface FileCheckpointStore extends CheckpointStore {
    load(): Promise<Checkpoint | undefined>;
    save(checkpoint: Checkpoint): Promise<void>;
}
/**
 * Creates a store in a file for one process. The folder must exist.
 *
 * Writes a temporary file, flushes it and renames it, so that a crash leaves either the old or the new checkpoint.
 */
declare function fileCheckpointStore(path: string): FileCheckpointStore;

export { fileCheckpointStore };
export type { FileCheckpointStore };

// @outreach/client/dist/CheckpointStore-BcvlDLcR.d.ts
import { C as Checkpoint } from './syncEvents-B9Fe0Gq-.js';

/** Stores the checkpoint of one reconciliation. Custom stores implement these two methods. */
interface CheckpointStore {
    /** Returns the latest saved checkpoint; undefined if there is none. */
    load(): Checkpoint | undefined | Promise<Checkpoint | undefined>;
    /** Replaces the saved checkpoint. */
    save(checkpoint: Checkpoint): void | Promise<void>;
}
/** Options of stores in a database. */
interface TableOptions {
    /** Table name in lower case, optionally with a schema. Default `outreach_checkpoints`. */
    readonly table?: string | undefined;
    /** Name of the reconciliation, if a table contains checkpoints of several. Default `events`. */
    readonly name?: string | undefined;
}

export type { CheckpointStore as C, TableOptions as T };

// @outreach/client/dist/syncEvents-B9Fe0Gq-.d.ts
/** A submitted survey. Unknown fields are rejected. */
interface SurveyInput {
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
interface QuestionInput {
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
interface OptionObject {
  text: string
  value?: string | undefined
}

/** One row of a compound question. */
interface SubQuestionInput {
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
interface CaseInput {
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
interface Publication {
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
interface Targeting {
  audiences: AudienceInput[]
}

/** One audience of a survey. */
interface AudienceInput {
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
interface CampaignSummary {
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
interface ProgramSummary {
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
interface RecipientRecord {
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
interface Health {
  /** `ok` when reachable. */
  status: string
  /** The released version. */
  version: string
  /** UTC date-time with microseconds. */
  timestamp: string
}

/** The body of every error response of the partner endpoints. */
interface PartnerError {
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
interface Digest {
  object: "digest"
  /** True only on the production deployment. */
  livemode: boolean
  /** UTC calendar date. */
  date: string
  data: DigestRecord[]
}

/** One program's day. */
interface DigestRecord {
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
interface FunnelCounts {
  account_created: number
  learner_qualified: number
  completer_qualified: number
}

/** The outreach of one date: its events by `emitted_at`, in UTC. */
interface OutreachCounts {
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
interface QuotaStatus {
  target: number | null
  count: number
  remaining: number | null
  reached_at: string | null
}

/** The event is stored. */
interface WebhookReceipt {
  received: true
}

/** A survey saved as a draft. */
interface SurveyCreated {
  id: string
  title: string
  /** `draft` for a created survey. */
  status: string
  questionCount: number
  /** ISO 8601 date-time with `Z` or an offset. */
  createdAt: string
}

/** The body of every error response of the survey and upload endpoints. */
interface LegacyError {
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
interface ValidateResult {
  valid: boolean
  questionCount: number
  caseCount?: number | undefined
}

/** Where to upload a file, and where it is found afterwards. */
interface PresignResult {
  /** Upload here by PUT. */
  url: string
  /** Refer to the file by this after the upload. */
  publicUrl: string
  /** Seconds until the upload URL expires. */
  expiresIn: number
}

/** One page of a list. */
interface List<Item> {
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
interface EnvelopeMembers {
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
interface ServiceEventData {
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
interface ServiceEvent<Type extends keyof ServiceEventData> extends EnvelopeMembers {
  event_type: Type
  source: "service"
  data: ServiceEventData[Type]
  campaign?: CampaignSummary | null | undefined
  program?: ProgramSummary | null | undefined
  recipient?: RecipientRecord | null | undefined
}

/** The `data` of the events that the consumer sends, by type. A newer version may add keys. */
interface ConsumerEventData {
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
interface ConsumerEvent<Type extends keyof ConsumerEventData> extends EnvelopeMembers {
  event_type: Type
  source: "consumer"
  data: ConsumerEventData[Type]
}

/** The query parameters of each operation, by wire name. */
interface Queries {
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

/** Event types of the pull feed. */
type FeedEventType = Exclude<keyof ServiceEventData, "outreach.recipients_published">;
/** An event of the pull feed. */
type FeedEvent = {
    [Type in FeedEventType]: ServiceEvent<Type>;
}[FeedEventType];
/** An event that the consumer sends to the service. */
type OutboundEvent = {
    [Type in keyof ConsumerEventData]: ConsumerEvent<Type>;
}[keyof ConsumerEventData];

declare global {
    interface AbortSignal {
    }
}
/** Waits. Rejects with the signal's reason if it aborts first. */
type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;

/** Progress of a reconciliation: JSON to store with the events and to pass in after a restart. */
interface Checkpoint {
    /** Start of the next pass: the emission time of the latest event, minus the overlap. */
    readonly since: string;
    /** Ids and emission times of events since `since` that were already yielded. */
    readonly seen?: Readonly<Record<string, string>>;
}
/** New events, and the checkpoint to store with them. */
interface EventBatch {
    readonly events: readonly FeedEvent[];
    readonly checkpoint: Checkpoint;
}

export type { AudienceInput as A, Checkpoint as C, Digest as D, EventBatch as E, FeedEvent as F, Health as H, LegacyError as L, OutboundEvent as O, PartnerError as P, Queries as Q, RecipientRecord as R, SurveyCreated as S, Targeting as T, ValidateResult as V, WebhookReceipt as W, List as a, PresignResult as b, SurveyInput as c, Sleep as d, CampaignSummary as e, CaseInput as f, ConsumerEvent as g, ConsumerEventData as h, DigestRecord as i, EnvelopeMembers as j, FeedEventType as k, FunnelCounts as l, OptionObject as m, OutreachCounts as n, ProgramSummary as o, Publication as p, QuestionInput as q, QuotaStatus as r, ServiceEvent as s, ServiceEventData as t, SubQuestionInput as u };
