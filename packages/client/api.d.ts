import { PartnerErrorType, PartnerErrorCode, LegacyErrorCode, LegacyErrorItem } from '@outreach/error-catalog';
import { List, FeedEvent, OperationId, ResponseOf, Operations, Health, CallOf, RecipientRecord, Digest, EventEnvelope, EventTypeOf, WebhookReceipt, SurveyInput, SurveyCreated, ValidateResult, PresignResult } from '@outreach/contract';
import { Schedule } from '@outreach/retry-policy';

/** What the service said of a request that it refused or could not answer. */
interface ApiErrorFields {
    readonly status: number;
    readonly type: PartnerErrorType;
    readonly code: PartnerErrorCode | LegacyErrorCode | null;
    readonly message: string;
    readonly requestId: string | null;
    readonly retryAfter: number | null;
    readonly details: Readonly<Record<string, unknown>> | null;
    readonly errors: readonly LegacyErrorItem[];
    readonly docUrl: string | null;
}
/** An answer of the service that is not a success. Branch on `type`; codes are added over time. */
declare class ApiError extends Error {
    readonly name: string;
    /** HTTP status. */
    readonly status: number;
    /** The kind of error; for an answer without one, what its status stands for. */
    readonly type: PartnerErrorType;
    /** The error's code; null when the answer held no error body, as from a proxy in between. */
    readonly code: PartnerErrorCode | LegacyErrorCode | null;
    /** Names the request to the service's operators; null when the answer did not. */
    readonly requestId: string | null;
    /** Seconds that the service asked to wait; null when it did not. */
    readonly retryAfter: number | null;
    /** Free-form details, such as `parameter`. */
    readonly details: Readonly<Record<string, unknown>> | null;
    /** Faults of a submitted survey; empty elsewhere. */
    readonly errors: readonly LegacyErrorItem[];
    /** The code's entry in the published guide. */
    readonly docUrl: string | null;
    constructor(fields: ApiErrorFields);
}
/** A request that has no answer. Whether the service acted on it is not known. */
declare class ConnectionError extends Error {
    readonly name: string;
    /** `network`: unreachable or broken off; `timeout`: no whole answer in time; `unreadable`: an answer, but not the service's. */
    readonly reason: "network" | "timeout" | "unreadable";
    constructor(reason: "network" | "timeout" | "unreadable", cause?: unknown);
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

/** Waits, unless the signal aborts first: then it rejects with the signal's reason. */
type Sleep = (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;

/** What every call can be told. */
interface CallOptions {
    /** Gives up at once, in the middle of a request or of a wait; the call rejects with the signal's reason. */
    readonly signal?: AbortSignal | undefined;
    /** The most seconds that one attempt may take. Default: the client's. */
    readonly timeout?: number | undefined;
}

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

type BareName<Name> = Name extends `${infer Bare}[]` ? Bare : Name;
type Readonlys<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value;
/** What an operation can be asked in its query, by the contract's names without their brackets. */
type QueryOf<Id extends OperationId> = {
    readonly [Name in keyof CallOf<Operations[Id]>["query"] as BareName<Name>]: Readonlys<CallOf<Operations[Id]>["query"][Name]>;
};
/** The body of an operation's success. */
type BodyOf<Id extends OperationId> = Extract<ResponseOf<Operations[Id]>, {
    status: 200 | 201;
}>["body"];
/** Names a request, so that the service executes it once. */
interface IdempotencyOptions {
    /** 1 to 255 printable ASCII characters, sent unchanged with every attempt; the service keeps the answer for a day. */
    readonly idempotencyKey?: string | undefined;
}
/** What a reconciliation can be told. */
interface SyncOptions extends Omit<QueryOf<"listEvents">, "since" | "cursor">, CallOptions {
    /** The one that was stored last; the first time, `{ since }` with the time from which on events are wanted. */
    readonly checkpoint: Checkpoint;
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
    sendEvent(endpointId: string, event: EventEnvelope<EventTypeOf<"to_service">>, options: CallOptions & {
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
}

/** Where and as whom a client calls, and how patiently. */
interface ClientOptions {
    /** The bearer credential; it is sent to `baseUrl` alone. */
    readonly apiKey: string;
    /** The deployment's address, without `/v1`. */
    readonly baseUrl: string;
    /** Default: the runtime's own `fetch`. */
    readonly fetch?: Fetch | undefined;
    /** The most seconds that one attempt may take, to the last byte of its answer. Default 30. */
    readonly timeout?: number | undefined;
    /** Seconds before each repeat of a failed attempt, from a half to the whole of each by chance. Default 0.5, 1, 2, 4. */
    readonly retryDelays?: Schedule | undefined;
    /** The most seconds that one wait may take; an error that asks for more is thrown. Default 120. */
    readonly longestWait?: number | undefined;
    /** How many recipient records are remembered under their ETags. Default 1,000; 0 remembers none. */
    readonly cacheSize?: number | undefined;
    /** Waits between attempts and between walks. Default: the runtime's timer. */
    readonly sleep?: Sleep | undefined;
    /** Uniform in [0, 1). Default: `Math.random`. */
    readonly random?: (() => number) | undefined;
}
/** Creates a client. Throws `TypeError` on a key or an address that no request could be made of. */
declare function createClient({ apiKey, baseUrl, fetch, timeout, retryDelays, longestWait, cacheSize, sleep, random, }: ClientOptions): Client;

export { ApiError, ConnectionError, createClient };
export type { ApiErrorFields, BodyOf, CallOptions, Checkpoint, Client, ClientOptions, EventBatch, Fetch, FetchRequest, FetchResponse, IdempotencyOptions, Pages, QueryOf, Sleep, SyncOptions };
