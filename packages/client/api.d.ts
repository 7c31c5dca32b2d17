// @outreach/client
import { P as PartnerError, L as LegacyError, a as List, Q as Queries, H as Health, R as RecipientRecord, F as FeedEvent, D as Digest, W as WebhookReceipt, S as SurveyCreated, V as ValidateResult, b as PresignResult, O as OutboundEvent, c as SurveyInput, C as Checkpoint, E as EventBatch, d as Sleep } from './syncEvents.js';
export { A as AudienceInput, e as CampaignSummary, f as CaseInput, g as ConsumerEvent, h as ConsumerEventData, i as DigestRecord, j as EnvelopeMembers, k as FeedEventType, l as FunnelCounts, m as OptionObject, n as OutreachCounts, o as ProgramSummary, p as Publication, q as QuestionInput, r as QuotaStatus, s as ServiceEvent, t as ServiceEventData, u as SubQuestionInput, T as Targeting } from './syncEvents.js';

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
import { C as CheckpointStore, T as TableOptions } from './CheckpointStore.js';
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

// @outreach/client/dist/CheckpointStore.d.ts
import { C as Checkpoint } from './syncEvents.js';

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

// @outreach/client/dist/syncEvents.d.ts
import type { SurveyInput, QuestionInput, OptionObject, SubQuestionInput, CaseInput, Publication, Targeting, AudienceInput, CampaignSummary, ProgramSummary, RecipientRecord, Health, PartnerError, Digest, DigestRecord, FunnelCounts, OutreachCounts, QuotaStatus, WebhookReceipt, SurveyCreated, LegacyError, ValidateResult, PresignResult, List, EnvelopeMembers, ServiceEventData, ServiceEvent, ConsumerEventData, ConsumerEvent, Queries } from '@outreach/contract/types';

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
