// @outreach/webhook-verifier
import { W as WebhookEvent } from './WebhookEvent.js';
export { C as CampaignSummary, a as ConsumerEventData, E as EventEnvelope, b as EventOf, c as EventType, K as KnownEvent, P as ProgramSummary, R as RecipientRecord, S as ServiceEventData, U as UnknownEvent, d as UnknownEventType } from './WebhookEvent.js';
import { a as WebhookVerifierOptions, W as WebhookVerifier } from './WebhookVerifier.js';
export { E as EventSchema, T as Tolerance, V as VerifyOptions, b as WebhookHeaders, c as WebhookRequest } from './WebhookVerifier.js';

/** Reason for rejecting a webhook. Minor versions may add codes, but don't remove any. */
type WebhookVerificationErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets" | "malformed_secret" | "invalid_json" | "not_an_event" | "schema_mismatch" | "body_too_large" | "body_already_parsed" | "broken_body" | "not_a_request" | "invalid_options";
/** A schema violation and its path. Contains values only if the schema's own message quotes them. */
interface SchemaIssue {
    readonly message: string;
    readonly path: readonly PropertyKey[];
}
/** Thrown when a webhook is rejected. The message describes the remedy and never contains the body, the header or a secret. */
declare class WebhookVerificationError extends Error {
    readonly name: string;
    readonly code: WebhookVerificationErrorCode;
    /** HTTP status of the response: 4xx if the same request can never be accepted, 500 if the receiver is at fault. */
    readonly status: number;
    /** For `schema_mismatch`: the violations that the receiver's own schema reported. */
    readonly issues?: readonly SchemaIssue[];
    constructor(code: WebhookVerificationErrorCode, advice?: string, { issues, ...options }?: {
        readonly issues?: readonly SchemaIssue[];
        readonly cause?: unknown;
    });
}

/**
 * Creates a verifier for webhooks signed with any of the secrets.
 *
 * Throws `WebhookVerificationError` (`no_secrets`, `empty_secret`, `too_many_secrets`, `invalid_options`) on unusable secrets or
 * options. Source: Outreach Partner API specification, Authentication, 4, and Events.
 */
declare function createWebhookVerifier<Event = WebhookEvent>(options: WebhookVerifierOptions<Event>): WebhookVerifier<Event>;

export { WebhookEvent, WebhookVerificationError, WebhookVerifier, WebhookVerifierOptions, createWebhookVerifier };
export type { SchemaIssue, WebhookVerificationErrorCode };

// @outreach/webhook-verifier/deduplicate
import { W as WebhookHandler } from './receive.js';

/** Result of a claim: claimed under this name, already being handled, or already handled. */
type Claim = {
    readonly state: "claimed";
    readonly claim: string;
} | {
    readonly state: "in_progress";
} | {
    readonly state: "handled";
};
/** Stores which events were handled. */
interface EventStore {
    /** Claims an event until its lease expires. An event has at most one active claim, and none after it was handled. */
    claim(eventId: string): Promise<Claim>;
    /** Records that the event was handled. */
    complete(eventId: string): Promise<void>;
    /** Releases a claim if it is still active, so that the next delivery is handled immediately. */
    release(eventId: string, claim: string): Promise<void>;
}

/** Any PostgreSQL client with a `query` method, such as `pg`, Neon or PGlite. */
interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<{
        readonly rows: readonly unknown[];
    }>;
}
/** Options of `postgresStore`. */
interface PostgresStoreOptions {
    /** Table name in lower case, optionally with a schema. Default `outreach_webhook_events`. */
    readonly table?: string | undefined;
    /** Seconds until a claim expires and another delivery is handled. Default 300. */
    readonly leaseSeconds?: number | undefined;
}
/** A store in PostgreSQL. */
interface PostgresStore extends EventStore {
    /** Creates the table if it doesn't exist. */
    createTable(): Promise<void>;
    /** Deletes events that were handled longer ago than this. The service retries for 31.2 hours; manual replays can come later. */
    forget(olderThanSeconds: number): Promise<void>;
}
/** Creates a store in PostgreSQL for any number of processes. Throws `RangeError` on table names that need quotes. */
declare function postgresStore(client: QueryClient, { table, leaseSeconds }?: PostgresStoreOptions): PostgresStore;

/** Sends one command to Redis. Resolves to its reply. */
type RedisCommand = (...command: string[]) => PromiseLike<unknown>;
/** Any Redis client: `ioredis` (`call`), `redis` (`sendCommand`), or a function that sends a command. */
type RedisClient = {
    call(command: string, ...values: string[]): PromiseLike<unknown>;
} | {
    sendCommand(command: string[]): PromiseLike<unknown>;
} | RedisCommand;
/** Options of `redisStore`. */
interface RedisStoreOptions {
    /** Key prefix before the event id. Default `outreach:webhooks:`. */
    readonly prefix?: string | undefined;
    /** Seconds until a claim expires and another delivery is handled. Default 300. */
    readonly leaseSeconds?: number | undefined;
    /** Seconds for which a handled event is remembered. Default 604,800 (a week). The service retries for 31.2 hours; manual replays can come later. */
    readonly rememberSeconds?: number | undefined;
}
/** Creates a store in Redis for any number of processes. Each event is one key, which expires. Throws `RangeError` on invalid seconds. */
declare function redisStore(client: RedisClient, { prefix, leaseSeconds, rememberSeconds }?: RedisStoreOptions): EventStore;

/** A synchronous SQLite database: `DatabaseSync` of `node:sqlite`, `better-sqlite3`, or `Database` of `bun:sqlite`. */
interface SqliteDatabase {
    prepare(sql: string): {
        get(...values: (string | number)[]): unknown;
        run(...values: (string | number)[]): unknown;
    };
}
/** Options of `sqliteStore`. */
interface SqliteStoreOptions {
    /** Table name in lower case. Default `outreach_webhook_events`. */
    readonly table?: string | undefined;
    /** Seconds until a claim expires and another delivery is handled. Default 300. */
    readonly leaseSeconds?: number | undefined;
    /** Current Unix time in seconds. Default: the system clock. */
    readonly now?: (() => number) | undefined;
}
/** A store in SQLite. */
interface SqliteStore extends EventStore {
    /** Deletes events that were handled longer ago than this. The service retries for 31.2 hours; manual replays can come later. */
    forget(olderThanSeconds: number): Promise<void>;
}
/**
 * Creates a store in SQLite, including its table, for processes of one machine that open the same file.
 *
 * Throws `RangeError` on table names that need quotes.
 */
declare function sqliteStore(database: SqliteDatabase, { table, leaseSeconds, now }?: SqliteStoreOptions): SqliteStore;

/** Thrown for a repeated delivery of an event that is still being handled. The sender should retry later. */
declare class EventInProgressError extends Error {
    readonly name: string;
    constructor();
}
/**
 * Wraps a handler so that it receives each event once: claims the event, handles it, and records the success.
 *
 * If the handler fails, the claim is released; if the process crashes, the claim expires. So no event is lost. During another
 * delivery's handling it throws `EventInProgressError`; the adapters return 500 for it, so that the service retries.
 */
declare function deduplicate<Event extends {
    readonly event_id: string;
}>(store: EventStore, handle: WebhookHandler<Event>): (event: Event) => Promise<void>;
/** Options of `memoryStore`. */
interface MemoryStoreOptions {
    /** Maximum number of remembered events; the oldest are evicted. Default 10,000. */
    readonly capacity?: number | undefined;
    /** Seconds until a claim expires and another delivery is handled. Default 300. */
    readonly leaseSeconds?: number | undefined;
    /** Current Unix time in seconds. Default: the system clock. */
    readonly now?: (() => number) | undefined;
}
/** Creates a store in this process's memory. */
declare function memoryStore({ capacity, leaseSeconds, now, }?: MemoryStoreOptions): EventStore;

export { EventInProgressError, WebhookHandler, deduplicate, memoryStore, postgresStore, redisStore, sqliteStore };
export type { Claim, EventStore, MemoryStoreOptions, PostgresStore, PostgresStoreOptions, QueryClient, RedisClient, RedisCommand, RedisStoreOptions, SqliteDatabase, SqliteStore, SqliteStoreOptions };

// @outreach/webhook-verifier/express
import { N as NodeHandler } from './nodeHandler.js';
export { a as NodeRequest, b as NodeResponse } from './nodeHandler.js';
import { W as WebhookHandler, H as HandlerOptions } from './receive.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent.js';

/** Creates a route handler for Express 4 or 5. It reads the body itself, or uses the body that `express.raw()` has read. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): NodeHandler;

export { HandlerOptions, NodeHandler, WebhookHandler, webhookHandler };

// @outreach/webhook-verifier/fastify
import { H as HandlerOptions, W as WebhookHandler } from './receive.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent.js';

/** The parts of a Fastify instance that the plugin uses. */
interface FastifyScope {
    removeAllContentTypeParsers(): unknown;
    addContentTypeParser(contentType: string, parser: (request: unknown, body: unknown, done: (error: null, body: unknown) => void) => void): unknown;
    post(url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}
/** The parts of a Fastify request that the plugin reads. */
interface FastifyRequest {
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    readonly body: unknown;
}
/** The parts of a Fastify reply that the plugin uses. */
interface FastifyReply {
    code(status: number): {
        headers(values: {
            readonly [name: string]: string;
        }): {
            send(body: string): unknown;
        };
    };
}
/** Options of the plugin. */
interface PluginOptions extends HandlerOptions {
    /** Route path below the plugin's prefix. Default `/`. */
    readonly url?: string | undefined;
}
/**
 * Creates a Fastify plugin with one POST route. Only its own scope skips body parsing.
 *
 * The route reads the body itself: otherwise Fastify would reject oversized bodies without calling `onError`.
 */
declare function webhookPlugin<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: PluginOptions): (scope: FastifyScope) => Promise<void>;

export { HandlerOptions, WebhookHandler, webhookPlugin };
export type { FastifyReply, FastifyRequest, FastifyScope, PluginOptions };

// @outreach/webhook-verifier/fetch
import { W as WebhookHandler, H as HandlerOptions } from './receive.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent.js';

declare global {
    interface Request {
    }
    interface Response {
    }
}
/**
 * Creates a Fetch handler: a route of Next.js, Remix, SvelteKit or Astro, or the `fetch` of Workers, Deno and Bun.
 *
 * Accepts the request, or an object with a `request` property.
 */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): (given: Request | {
    readonly request: Request;
}) => Promise<Response>;

export { HandlerOptions, WebhookHandler, webhookHandler };

// @outreach/webhook-verifier/hono
import { W as WebhookHandler, H as HandlerOptions } from './receive.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent.js';

declare global {
    interface Request {
    }
    interface Response {
    }
}
/** The parts of a Hono context that the handler reads. */
interface HonoContext {
    readonly req: {
        readonly raw: Request;
        readonly bodyCache: {
            readonly arrayBuffer?: unknown;
        };
    };
}
/** Creates a Hono route handler. Reuses bytes that a middleware read with `c.req.arrayBuffer()`. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): (context: HonoContext) => Promise<Response>;

export { HandlerOptions, WebhookHandler, webhookHandler };
export type { HonoContext };

// @outreach/webhook-verifier/lambda
import { W as WebhookHandler, H as HandlerOptions } from './receive.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent.js';

/** The fields that are read from events of function URLs, API Gateway (both versions) and load balancers. */
interface LambdaEvent {
    readonly headers?: {
        readonly [name: string]: string | undefined;
    } | null | undefined;
    readonly multiValueHeaders?: {
        readonly [name: string]: string[] | undefined;
    } | null | undefined;
    readonly body?: string | null | undefined;
    readonly isBase64Encoded?: boolean | undefined;
}
/** A Lambda response. */
interface LambdaResult {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
    isBase64Encoded: false;
}
/** Creates an AWS Lambda handler. Accepts text and base64 bodies. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): (event: LambdaEvent) => Promise<LambdaResult>;

export { HandlerOptions, WebhookHandler, webhookHandler };
export type { LambdaEvent, LambdaResult };

// @outreach/webhook-verifier/node
import { N as NodeHandler } from './nodeHandler.js';
export { a as NodeRequest, b as NodeResponse } from './nodeHandler.js';
import { W as WebhookHandler, H as HandlerOptions } from './receive.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent.js';

/** Creates a handler for `createServer` of `node:http` and compatible frameworks. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): NodeHandler;

export { HandlerOptions, NodeHandler, WebhookHandler, webhookHandler };

// @outreach/webhook-verifier/schemas
import { WebhookEvent } from './index.js';
import { EventSchema } from './index.js';

/** Validates all fields of known events as described by the contract. Unknown fields pass. */
declare const eventSchema: EventSchema<WebhookEvent>;

export { eventSchema };

// @outreach/webhook-verifier/testing
import { EventType, EventOf } from './index.js';

/** A request as the service sends it. */
interface SignedWebhook {
    readonly headers: {
        readonly "content-type": "application/json";
        readonly "x-signature": string;
    };
    readonly body: string;
}
/** Options for the time of signing. */
interface SigningTime {
    /** Unix seconds. Default: now. */
    readonly timestamp?: number | undefined;
}

/** Options of `sampleEvent`. */
interface SampleOptions {
    /** Time of signing and emission in Unix seconds. Default: now. */
    readonly timestamp?: number | undefined;
    /** `evt_<hex>`. Default: random. */
    readonly eventId?: string | undefined;
}
/** The event types that have samples. */
declare const sampleTypes: readonly EventType[];
/** Creates an event of a type, with fictional people. */
declare function sampleEvent<Type extends EventType>(type: Type, { timestamp, eventId }?: SampleOptions): EventOf<Type>;

/** Signs an event, or a raw body, with each secret, as the service does. */
declare function signWebhook(event: object | string, secrets: readonly string[], options?: SigningTime): Promise<SignedWebhook>;

export { sampleEvent, sampleTypes, signWebhook };
export type { SampleOptions, SignedWebhook, SigningTime };

// @outreach/webhook-verifier/dist/WebhookEvent.d.ts
import type { CampaignSummary, ProgramSummary, RecipientRecord, EnvelopeMembers, ServiceEventData, ServiceEvent, ConsumerEventData, ConsumerEvent } from '@outreach/contract/types';

/** An event of a type that this version knows. */
type KnownEvent = {
    [Type in keyof ServiceEventData]: ServiceEvent<Type>;
}[keyof ServiceEventData] | {
    [Type in keyof ConsumerEventData]: ConsumerEvent<Type>;
}[keyof ConsumerEventData];
/** Type name of an event that this version knows. */
type EventType = KnownEvent["event_type"];
/**
 * Type name of an event that this version doesn't know: any string.
 *
 * An enum is the only string type that comparisons with literals never narrow to; `string` or a branded string would remain
 * in every branch of a `switch`. The object doesn't exist at run time.
 */
declare enum UnknownEventType {
    Newer = "a type that is newer than this version"
}

/** An event of a newer type. Acknowledge it. */
interface UnknownEvent extends EnvelopeMembers {
    event_type: UnknownEventType;
    source: string;
    data: Record<string, unknown>;
}
/** A verified event. A `switch` over `event_type` narrows `data`; the `default` branch receives `UnknownEvent`. */
type WebhookEvent = KnownEvent | UnknownEvent;
/** The events of one or several types. */
type EventOf<Type extends EventType> = Extract<KnownEvent, {
    event_type: Type;
}>;

export { UnknownEventType as d };
export type { CampaignSummary as C, EnvelopeMembers as E, KnownEvent as K, ProgramSummary as P, RecipientRecord as R, ServiceEventData as S, UnknownEvent as U, WebhookEvent as W, ConsumerEventData as a, EventOf as b, EventType as c };

// @outreach/webhook-verifier/dist/WebhookVerifier.d.ts
import { W as WebhookEvent } from './WebhookEvent.js';

/** Headers in any common form: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object. Names are case-insensitive. */
type WebhookHeaders = {
    get(name: string): string | null;
    forEach(each: (value: string, name: string) => void): void;
} | Iterable<readonly [string, string | readonly string[]]> | readonly string[] | {
    readonly [name: string]: string | readonly string[] | undefined;
};
/** A request with an unparsed body: a Fetch `Request`, or headers and the raw body. */
type WebhookRequest = {
    readonly headers: WebhookHeaders;
    readonly bodyUsed: boolean;
    arrayBuffer(): Promise<ArrayBuffer>;
} | {
    readonly headers: WebhookHeaders;
    /** The raw body. Strings are read as UTF-8. */
    readonly body: Uint8Array | ArrayBuffer | string;
    /** The raw body, if a framework stores it in addition to the parsed one. Takes precedence over `body`. */
    readonly rawBody?: Uint8Array | ArrayBuffer | string | undefined;
};
/** Allowed difference between a signature's timestamp and the clock, in seconds. */
interface Tolerance {
    /** Maximum age of a signature. Default 300. */
    readonly past?: number | undefined;
    /** How far the signer's clock may be ahead. Default 300. */
    readonly future?: number | undefined;
}
/** A Standard Schema, such as one of zod, Valibot or ArkType. */
interface EventSchema<Event> {
    readonly "~standard": {
        readonly version: 1;
        readonly vendor: string;
        readonly validate: (value: unknown) => Validated<Event> | Promise<Validated<Event>>;
        readonly types?: {
            readonly input: unknown;
            readonly output: Event;
        } | undefined;
    };
}
type Validated<Event> = {
    readonly value: Event;
    readonly issues?: undefined;
} | {
    readonly issues: readonly FoundIssue[];
};
/** A violation, as a Standard Schema reports it. */
interface FoundIssue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
}
/** Options of `createWebhookVerifier`. */
interface WebhookVerifierOptions<Event = WebhookEvent> {
    /** Signing secrets of the endpoint, 1 to 16. During a rotation, pass the old and the new one. */
    readonly secrets: readonly (string | undefined)[];
    /** 0 to 3,600 seconds for both directions or for each. The limit itself is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
    /** Current Unix time in seconds; called once at creation as a check. Default: the system clock. */
    readonly now?: (() => number) | undefined;
    /**
     * Additional validation of each event, for example `/schemas` of this package. Rejected events get a 500, so the service retries them.
     * Default: only the envelope is validated.
     */
    readonly schema?: EventSchema<Event> | undefined;
}
/** Options for one request. */
interface VerifyOptions {
    /** Time at which a queued request was received: a `Date` or Unix seconds. Default: now. */
    readonly receivedAt?: Date | number | undefined;
}
/** Verifies webhooks. */
interface WebhookVerifier<Event = WebhookEvent> {
    /** Verifies a request and returns its event. Rejects only with `WebhookVerificationError`. */
    verify(request: WebhookRequest, options?: VerifyOptions): Promise<Event>;
}

export type { EventSchema as E, Tolerance as T, VerifyOptions as V, WebhookVerifier as W, WebhookVerifierOptions as a, WebhookHeaders as b, WebhookRequest as c };

// @outreach/webhook-verifier/dist/nodeHandler.d.ts
/** The parts of `IncomingMessage` that are read, including additions by frameworks. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    readonly readableDidRead: boolean;
}
/** The parts of `ServerResponse` that are used. */
interface NodeResponse {
    writeHead(status: number, headers: {
        readonly [name: string]: string;
    }): {
        end(body: string): unknown;
    };
}
/** A handler of Node requests. */
type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>;

export type { NodeHandler as N, NodeRequest as a, NodeResponse as b };

// @outreach/webhook-verifier/dist/receive.d.ts
/** Handles an event. The event is acknowledged when the handler returns, so store it first and process it later. */
type WebhookHandler<Event> = (event: Event) => unknown;
/** Options of every adapter. */
interface HandlerOptions {
    /** Maximum body size in bytes, at least 65,536 (the largest event). Default 1,048,576. */
    readonly maxBytes?: number | undefined;
    /** Called with every rejection and every handler failure. Default: `console.error`. */
    readonly onError?: ((error: unknown) => void) | undefined;
}

export type { HandlerOptions as H, WebhookHandler as W };
