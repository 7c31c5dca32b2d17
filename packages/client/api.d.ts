// @outreach/client
import { P as PartnerError, L as LegacyError, a as List, Q as Queries, H as Health, R as RecipientRecord, F as FeedEvent, D as Digest, W as WebhookReceipt, S as SurveyCreated, V as ValidateResult, b as PresignResult, O as OutboundEvent, c as SurveyInput, C as Checkpoint, E as EventBatch, d as Sleep } from './syncEvents-C-Va5xFv.js';
export { A as AudienceInput, e as CampaignSummary, f as CaseInput, g as ConsumerEvent, h as ConsumerEventData, i as DigestRecord, j as EnvelopeMembers, k as FeedEventType, l as FunnelCounts, m as OptionObject, n as OutreachCounts, o as ProgramSummary, p as Publication, q as QuestionInput, r as QuotaStatus, s as ServiceEvent, t as ServiceEventData, u as SubQuestionInput, T as Targeting } from './syncEvents-C-Va5xFv.js';

type ErrorType = PartnerError["error"]["type"];
type ErrorCode = PartnerError["error"]["code"] | LegacyError["error"]["code"];
type Faults = readonly Readonly<NonNullable<LegacyError["error"]["errors"]>[number]>[];
/** An answer of the service that is not a success, or not what was asked for. Branch on `type`; codes are added over time. */
declare class ApiError extends Error {
    readonly name: string;
    /** HTTP status. */
    readonly status: number;
    /** The kind of error; for an answer without one, what its status stands for. */
    readonly type: ErrorType;
    /** The error's code; null when the answer held no error body, as from a proxy in between. */
    readonly code: ErrorCode | null;
    /** Names the request to the service's operators; null when the answer did not. */
    readonly requestId: string | null;
    /** Seconds that the service asked to wait; null when it did not. */
    readonly retryAfter: number | null;
    /** Free-form details, such as `parameter`. */
    readonly details: Readonly<Record<string, unknown>> | null;
    /** Faults of a submitted survey; empty elsewhere. */
    readonly errors: Faults;
    /** The code's entry in the published guide. */
    readonly docUrl: string | null;
    constructor(fields: ApiErrorFields, options?: ErrorOptions);
}
/** What the service said of a request that it refused or could not answer. */
type ApiErrorFields = Omit<ApiError, "name" | "stack" | "cause">;
/** A request that has no answer. Whether the service acted on it is not known. */
declare class ConnectionError extends Error {
    readonly name: string;
    /** `network`: unreachable or broken off; `timeout`: no whole answer in time; `unreadable`: an answer, but not the service's. */
    readonly reason: "network" | "timeout" | "unreadable";
    /** The message names the host of the request's address, without path and query. */
    constructor(reason: "network" | "timeout" | "unreadable", url: string, cause?: unknown);
}

/** A list of many pages: iterate over its items, or over its pages. Nothing is asked before; each iteration begins anew. */
interface Pages<Item> extends AsyncIterable<Item> {
    /** Iterates page by page; a page's `next_cursor` is where a later walk can go on. */
    readonly pages: () => AsyncIterable<List<Item>>;
}

/** As much of a WHATWG `fetch` as the client uses: that of Node 18 or later, Deno, Bun, a worker or undici will do. */
type Fetch = (url: string, request: FetchRequest) => Promise<FetchResponse>;
/** What the client asks a `fetch` for. */
interface FetchRequest {
    readonly method: string;
    readonly headers: Record<string, string>;
    readonly body?: string;
    readonly redirect: "manual";
    readonly signal: AbortSignal;
}
/** What the client reads of an answer. */
interface FetchResponse {
    readonly status: number;
    readonly headers: {
        get(name: string): string | null;
    };
    text(): Promise<string>;
}

/** How much of its rate limit a key has left. */
interface RateLimit {
    /** Requests allowed in a window. */
    readonly limit: number;
    /** Requests left in the window. */
    readonly remaining: number;
    /** When the window ends, in Unix seconds. */
    readonly reset: number;
}
/** What came with an answer, beside its body. */
interface ResponseInfo {
    /** HTTP status; 304 for a record that is served from memory. */
    readonly status: number;
    /** Names the request to the service's operators; null when the answer did not. */
    readonly requestId: string | null;
    /** Null when the answer held no rate limit, as that of the health check. */
    readonly rateLimit: RateLimit | null;
    /** Returns a header by its name, in any case; null when there is none. */
    readonly header: (name: string) => string | null;
}

/** The id of an operation. */
type OperationId = keyof Queries;

/** One attempt of a call, before it is sent: without the API key, signatures and bodies. */
interface RequestInfo {
    readonly operation: OperationId;
    readonly method: string;
    readonly url: string;
    /** 1 for the first attempt of a call. */
    readonly attempt: number;
}
/** The outcome of one attempt. */
interface AttemptInfo {
    readonly request: RequestInfo;
    /** How long the attempt took, to the last byte of its answer. */
    readonly seconds: number;
    /** Null when no whole answer came. */
    readonly response: ResponseInfo | null;
    /** Null after a success. */
    readonly error: ApiError | ConnectionError | null;
    /** In how many seconds the call is sent again; null when it is not. */
    readonly retryInSeconds: number | null;
}
/** Functions that are called with each attempt of each call; an error that one throws ends the call. */
interface Hooks {
    /** Called before each attempt. May return headers to send along, such as `traceparent`; none replaces one of the client's own. */
    readonly onRequest?: ((request: RequestInfo) => HookHeaders | undefined | PromiseLike<HookHeaders | undefined>) | undefined;
    /** Called after each attempt, except one that the caller's signal ended. */
    readonly onResponse?: ((attempt: AttemptInfo) => unknown) | undefined;
}
type HookHeaders = Readonly<Record<string, string>>;

/** What every call can be told. */
interface CallOptions {
    /** Gives up at once, in the middle of a request or of a wait; the call rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** The most seconds that one attempt may take. Default: the client's. */
    readonly timeout?: number | undefined;
}

type BareName<Name> = Name extends `${infer Bare}[]` ? Bare : Name;
type Readonlys<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;
/** What an operation can be asked in its query, by the contract's names without their brackets; `since` may be a `Date`. */
type QueryOf<Id extends OperationId> = {
    readonly [Name in keyof Queries[Id] as BareName<Name>]: Readonlys<Queries[Id][Name]> | (Name extends "since" ? Date : never);
};
/** The body of an operation's success. */
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
/** Names a request, so that the service executes it once. */
interface IdempotencyOptions {
    /** 1 to 255 printable ASCII characters, sent unchanged with every attempt; the service keeps the answer for a day. */
    readonly idempotencyKey?: string | undefined;
}
/** What a reconciliation can be told. */
interface SyncOptions extends Omit<QueryOf<"listEvents">, "since" | "cursor">, CallOptions {
    /** The one that was stored last; the first time, `{ since }` with the time from which on events are wanted. */
    readonly checkpoint: Checkpoint | {
        readonly since: string | Date;
    };
    /** Seconds from the end of one walk to the next. Default 900; null ends after one walk. */
    readonly everySeconds?: number | null | undefined;
    /** Whole seconds that each walk reads again, for a service whose clock was set back by that much. Default 5. */
    readonly overlapSeconds?: number | undefined;
}
/** The operations of the Outreach Partner API. */
interface Client {
    /** Reports whether the service is reachable; sends no key. */
    getHealth(options?: CallOptions): Promise<Health>;
    /** Resolves one token; for ad-hoc use, not for the click path. */
    getToken(token: string, options?: QueryOf<"getToken"> & CallOptions & IdempotencyOptions): Promise<RecipientRecord>;
    /** Lists recipient records updated since a time. */
    listTokens(options: QueryOf<"listTokens"> & CallOptions): Pages<RecipientRecord>;
    /** Lists outreach events emitted since a time. */
    listEvents(options: QueryOf<"listEvents"> & CallOptions): Pages<FeedEvent>;
    /** Lists the recipients of a campaign. */
    listCampaignRecipients(campaignId: string, options?: QueryOf<"listCampaignRecipients"> & CallOptions): Pages<RecipientRecord>;
    /** Reads the digest of a UTC date, `YYYY-MM-DD`. */
    getDigest(date: string, options?: CallOptions & IdempotencyOptions): Promise<Digest>;
    /** Sends a signed event to the service's webhook receiver, where it is stored once for its `event_id`. */
    sendEvent(endpointId: string, event: OutboundEvent, options: CallOptions & {
        /** The active signing secrets: one `v1` is sent for each. */
        readonly secrets: readonly string[];
    }): Promise<WebhookReceipt>;
    /** Creates a survey; a draft of the contract, not served yet. Without an idempotency key it makes one. */
    createSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<SurveyCreated>;
    /** Validates a survey and saves nothing; a draft of the contract, not served yet. */
    validateSurvey(survey: SurveyInput, options?: CallOptions & IdempotencyOptions): Promise<ValidateResult>;
    /** Asks for an address to upload a file to; a draft of the contract, not served yet. */
    presignUpload(filename: string, options?: Omit<QueryOf<"presignUpload">, "filename"> & CallOptions & IdempotencyOptions): Promise<PresignResult>;
    readonly sync: {
        /** Hands out every event since the checkpoint once, batch by batch, and looks again every 15 minutes until aborted. */
        events(options: SyncOptions): AsyncGenerator<EventBatch, void, void>;
    };
    /** Returns what came with a result of this client, a page or an error, beside its body: the request id, the rate limit, the headers. */
    responseOf(result: object): ResponseInfo | undefined;
}

/** The address and the key of a client, and how long it waits. */
interface ClientOptions extends Hooks {
    /** The bearer credential; it is sent to `baseUrl` alone. */
    readonly apiKey: string;
    /** The deployment's address, with or without `/v1`. */
    readonly baseUrl: string;
    /** What follows the client's own name in `User-Agent`, such as `acme-poller/1.2`. */
    readonly userAgent?: string | undefined;
    /** Default: the runtime's own `fetch`. */
    readonly fetch?: Fetch | undefined;
    /** The most seconds that one attempt may take, to the last byte of its answer. Default 30. */
    readonly timeout?: number | undefined;
    /** Seconds before each repeat of a failed attempt, from a half to the whole of each by chance. Default 0.5, 1, 2, 4. */
    readonly retryDelays?: readonly number[] | undefined;
    /** The most seconds that one wait may take; an error that asks for more is thrown. Default 120. */
    readonly longestWait?: number | undefined;
    /** How many recipient records are remembered under their ETags. Default 1,000; 0 remembers none. */
    readonly cacheSize?: number | undefined;
    /** Waits between attempts and between walks. Default: the runtime's timer. */
    readonly sleep?: Sleep | undefined;
    /** Uniform in [0, 1). Default: `Math.random`. */
    readonly random?: (() => number) | undefined;
}
/** Creates a client. Throws `TypeError` or `RangeError` on what no request could be made with, such as an empty key. */
declare function createClient({ apiKey, baseUrl, userAgent: addition, fetch, timeout, retryDelays, longestWait, cacheSize, sleep, random, onRequest, onResponse, }: ClientOptions): Client;

export { ApiError, Checkpoint, ConnectionError, Digest, EventBatch, FeedEvent, Health, List, OutboundEvent, PresignResult, Queries, RecipientRecord, Sleep, SurveyCreated, SurveyInput, ValidateResult, WebhookReceipt, createClient };
export type { ApiErrorFields, AttemptInfo, BodyOf, CallOptions, Client, ClientOptions, Fetch, FetchRequest, FetchResponse, Hooks, IdempotencyOptions, OperationId, Pages, QueryOf, RateLimit, RequestInfo, ResponseInfo, SyncOptions };

// @outreach/client/checkpoints
import { C as CheckpointStore, T as TableOptions } from './CheckpointStore-VpDWavkC.js';
import { Checkpoint } from './index.js';

/** Any PostgreSQL client with a `query` method, such as that of `pg`, Neon or PGlite. */
interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<{
        readonly rows: readonly unknown[];
    }>;
}
/** A store in PostgreSQL. */
interface PostgresCheckpointStore extends CheckpointStore {
    /** Creates the table unless it is there. */
    createTable(): Promise<void>;
    load(): Promise<Checkpoint | undefined>;
    /** Saves a checkpoint, through `transaction` where it is given: the client in whose transaction the events are stored. */
    save(checkpoint: Checkpoint, transaction?: QueryClient): Promise<void>;
}
/** Creates a store in PostgreSQL; call its `createTable` once. Throws `RangeError` on a table's name that would need quotes. */
declare function postgresCheckpointStore(client: QueryClient, options?: TableOptions): PostgresCheckpointStore;

/** A synchronous SQLite database: `DatabaseSync` of `node:sqlite`, `better-sqlite3`, or `Database` of `bun:sqlite`. */
interface SqliteDatabase {
    prepare(sql: string): {
        get(...values: string[]): unknown;
        run(...values: string[]): unknown;
    };
}
/** A store in SQLite, whose methods answer at once, so that they can stand in a transaction. */
interface SqliteCheckpointStore extends CheckpointStore {
    load(): Checkpoint | undefined;
    save(checkpoint: Checkpoint): void;
}
/**
 * Creates a store in SQLite, and its table unless it is there. Throws `RangeError` on a table's name that would need quotes.
 *
 * Saved in the transaction that stores the events, a checkpoint neither loses nor repeats one.
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
 * Creates a store in a file, for one process; its folder must be there.
 *
 * A checkpoint is written beside the file, flushed to the disk and renamed, so that a crash at any moment leaves the one before or the new one.
 */
declare function fileCheckpointStore(path: string): FileCheckpointStore;

export { fileCheckpointStore };
export type { FileCheckpointStore };

// @outreach/client/dist/CheckpointStore-VpDWavkC.d.ts
import { C as Checkpoint } from './syncEvents-C-Va5xFv.js';

/** Keeps the checkpoint of one reconciliation. A store of your own has the same two methods. */
interface CheckpointStore {
    /** Returns the checkpoint that was saved last; undefined before the first. */
    load(): Checkpoint | undefined | Promise<Checkpoint | undefined>;
    /** Saves a checkpoint in place of the one before. */
    save(checkpoint: Checkpoint): void | Promise<void>;
}
/** Where a store in a database keeps its checkpoint. */
interface TableOptions {
    /** The table's name, with its schema or without, in lower case. Default `outreach_checkpoints`. */
    readonly table?: string | undefined;
    /** Names the reconciliation, where a table holds the checkpoints of several. Default `events`. */
    readonly name?: string | undefined;
}

export type { CheckpointStore as C, TableOptions as T };

// @outreach/client/dist/syncEvents-C-Va5xFv.d.ts
/** A survey as it is submitted. Unknown fields are refused. */
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

/** What a case was published as. */
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

/** Whom a survey is for. */
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

/** What the health check says. */
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
    /** What retry and UX logic should branch on. */
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

/** What outreach did on one date: the events whose `emitted_at` is of the date, in UTC. */
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

/** What every event carries, whatever its type: `occurred_at` is when the thing happened, `emitted_at` when the event was made. */
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

/** What each operation can be asked in its query, by wire name. */
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

/** An event type of the pull feed. */
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
/** Waits, unless the signal aborts first: then it rejects with the signal's reason. */
type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;

/** How far a reconciliation has come: JSON to be stored beside the events, and handed back after a restart. */
interface Checkpoint {
    /** Reading begins here: the time of emission of the last event, less the overlap. */
    readonly since: string;
    /** The events emitted at `since` or later that were handed out already: their ids, each with its time of emission. */
    readonly seen?: Readonly<Record<string, string>>;
}
/** Events that were not handed out before, and the checkpoint that stands once they are stored. */
interface EventBatch {
    readonly events: readonly FeedEvent[];
    readonly checkpoint: Checkpoint;
}

export type { AudienceInput as A, Checkpoint as C, Digest as D, EventBatch as E, FeedEvent as F, Health as H, LegacyError as L, OutboundEvent as O, PartnerError as P, Queries as Q, RecipientRecord as R, SurveyCreated as S, Targeting as T, ValidateResult as V, WebhookReceipt as W, List as a, PresignResult as b, SurveyInput as c, Sleep as d, CampaignSummary as e, CaseInput as f, ConsumerEvent as g, ConsumerEventData as h, DigestRecord as i, EnvelopeMembers as j, FeedEventType as k, FunnelCounts as l, OptionObject as m, OutreachCounts as n, ProgramSummary as o, Publication as p, QuestionInput as q, QuotaStatus as r, ServiceEvent as s, ServiceEventData as t, SubQuestionInput as u };
