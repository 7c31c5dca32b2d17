// @outreach/webhook-verifier
import { W as WebhookEvent } from './WebhookEvent-DSUsrBh0.js';
export { C as CampaignSummary, a as ConsumerEventData, E as EventEnvelope, b as EventOf, c as EventType, K as KnownEvent, P as ProgramSummary, R as RecipientRecord, S as ServiceEventData, U as UnknownEvent, d as UnknownEventType } from './WebhookEvent-DSUsrBh0.js';
import { a as WebhookVerifierOptions, W as WebhookVerifier } from './WebhookVerifier-DxiOX16i.js';
export { E as EventSchema, T as Tolerance, V as VerifyOptions, b as WebhookHeaders, c as WebhookRequest } from './WebhookVerifier-DxiOX16i.js';

/** Why a webhook was refused; the set only grows within a major version. */
type WebhookVerificationErrorCode = "missing_header" | "malformed_header" | "timestamp_out_of_tolerance" | "no_match" | "malformed_body" | "no_secrets" | "empty_secret" | "too_many_secrets" | "malformed_secret" | "invalid_json" | "not_an_event" | "schema_mismatch" | "body_too_large" | "body_already_parsed" | "broken_body" | "not_a_request" | "invalid_options";
/** What a schema found, and where: neither holds values unless the schema's own words quote them. */
interface SchemaIssue {
    readonly message: string;
    readonly path: readonly PropertyKey[];
}
/** A webhook is not accepted. Its message says what to do: it never holds the body, the header or a secret. */
declare class WebhookVerificationError extends Error {
    readonly name: string;
    readonly code: WebhookVerificationErrorCode;
    /** The HTTP status to answer: 4xx where the same request can never be good, 500 where the receiver is at fault. */
    readonly status: number;
    /** With `schema_mismatch`: what the receiver's own schema found. */
    readonly issues?: readonly SchemaIssue[];
    constructor(code: WebhookVerificationErrorCode, advice?: string, { issues, ...options }?: {
        readonly issues?: readonly SchemaIssue[];
        readonly cause?: unknown;
    });
}

/**
 * Creates a verifier of the webhooks that are signed with any of the secrets.
 *
 * Throws `WebhookVerificationError` (`no_secrets`, `empty_secret`, `too_many_secrets`, `invalid_options`) on secrets that no webhook
 * could be verified with. Source: Outreach Partner API specification, Authentication, 4, and Events.
 */
declare function createWebhookVerifier<Event = WebhookEvent>(options: WebhookVerifierOptions<Event>): WebhookVerifier<Event>;

export { WebhookEvent, WebhookVerificationError, WebhookVerifier, WebhookVerifierOptions, createWebhookVerifier };
export type { SchemaIssue, WebhookVerificationErrorCode };

// @outreach/webhook-verifier/deduplicate
import { W as WebhookHandler } from './receive-CEodbgw_.js';

/** Any PostgreSQL client with a `query` method, such as that of `pg`, Neon or PGlite. */
interface QueryClient {
    query(text: string, values: unknown[]): PromiseLike<{
        readonly rows: readonly unknown[];
    }>;
}
/** Where and how a store in PostgreSQL keeps its events. */
interface PostgresStoreOptions {
    /** The table's name, with its schema or without, in lower case. Default `outreach_webhook_events`. */
    readonly table?: string | undefined;
    /** How long a handler may take before another delivery is handled beside it. Default 300. */
    readonly leaseSeconds?: number | undefined;
}
/** A store in PostgreSQL. */
interface PostgresStore extends EventStore {
    /** Creates the table unless it is there. */
    createTable(): Promise<void>;
    /** Forgets events that were handled longer ago than this; deliveries repeat for 31.2 hours, and after that when replayed by hand. */
    forget(olderThanSeconds: number): Promise<void>;
}
/** Creates a store in PostgreSQL, for any number of processes. Throws `RangeError` on a table's name that would need quotes. */
declare function postgresStore(client: QueryClient, { table, leaseSeconds }?: PostgresStoreOptions): PostgresStore;

/** Sends one command to Redis and resolves to its reply. */
type RedisCommand = (...command: string[]) => PromiseLike<unknown>;
/** Any Redis client: `ioredis` has `call`, `redis` has `sendCommand`; for another, a function that sends a command. */
type RedisClient = {
    call(command: string, ...values: string[]): PromiseLike<unknown>;
} | {
    sendCommand(command: string[]): PromiseLike<unknown>;
} | RedisCommand;
/** Where and how a store in Redis keeps its events. */
interface RedisStoreOptions {
    /** What stands before the event's id in a key. Default `outreach:webhooks:`. */
    readonly prefix?: string | undefined;
    /** How long a handler may take before another delivery is handled beside it. Default 300. */
    readonly leaseSeconds?: number | undefined;
    /** How long an event that was handled is remembered. Default 604,800, a week: deliveries repeat for 31.2 hours, and after that when replayed by hand. */
    readonly rememberSeconds?: number | undefined;
}
/** Creates a store in Redis, for any number of processes; each event is one key, which expires by itself. Throws `RangeError` on seconds that no key could live for. */
declare function redisStore(client: RedisClient, { prefix, leaseSeconds, rememberSeconds }?: RedisStoreOptions): EventStore;

/** A synchronous SQLite database: `DatabaseSync` of `node:sqlite`, `better-sqlite3`, or `Database` of `bun:sqlite`. */
interface SqliteDatabase {
    prepare(sql: string): {
        get(...values: (string | number)[]): unknown;
        run(...values: (string | number)[]): unknown;
    };
}
/** Where and how a store in SQLite keeps its events. */
interface SqliteStoreOptions {
    /** The table's name in lower case. Default `outreach_webhook_events`. */
    readonly table?: string | undefined;
    /** How long a handler may take before another delivery is handled beside it. Default 300. */
    readonly leaseSeconds?: number | undefined;
    /** The clock, in Unix seconds. Default: the system's. */
    readonly now?: (() => number) | undefined;
}
/** A store in SQLite. */
interface SqliteStore extends EventStore {
    /** Forgets events that were handled longer ago than this; deliveries repeat for 31.2 hours, and after that when replayed by hand. */
    forget(olderThanSeconds: number): Promise<void>;
}
/**
 * Creates a store in SQLite, and its table unless it is there, for the processes of one machine that open the same file.
 *
 * Throws `RangeError` on a table's name that would need quotes.
 */
declare function sqliteStore(database: SqliteDatabase, { table, leaseSeconds, now }?: SqliteStoreOptions): SqliteStore;

/** The result of a claim: ours by this name, held by another, or not needed any more. */
type Claim = {
    readonly state: "claimed";
    readonly claim: string;
} | {
    readonly state: "in_progress";
} | {
    readonly state: "handled";
};
/** Remembers which events were handled. */
interface EventStore {
    /** Claims an event for a while; only one claim of an event holds at a time, and none once it is handled. */
    claim(eventId: string): Promise<Claim>;
    /** Records that the event was handled. */
    complete(eventId: string): Promise<void>;
    /** Gives a claim back, if it is still held, so that the next delivery is handled at once. */
    release(eventId: string, claim: string): Promise<void>;
}
/** An event that came again while it was being handled; the sender is to try later. */
declare class EventInProgressError extends Error {
    readonly name: string;
    constructor();
}
/**
 * Lets a handler see each event once: claims it, handles it, and records that it was handled.
 *
 * A handler that fails gives its claim back; one that crashes loses it after the store's lease; so no event is swallowed. While
 * another delivery is being handled it throws `EventInProgressError`, which the adapters answer with 500, so that the event comes again.
 */
declare function deduplicate<Event extends {
    readonly event_id: string;
}>(store: EventStore, handle: WebhookHandler<Event>): (event: Event) => Promise<void>;
/** Bounds of a store in memory. */
interface MemoryStoreOptions {
    /** How many events are remembered; the oldest go first. Default 10,000. */
    readonly capacity?: number | undefined;
    /** How long a handler may take before another delivery is handled beside it. Default 300. */
    readonly leaseSeconds?: number | undefined;
    /** The clock, in Unix seconds. Default: the system's. */
    readonly now?: (() => number) | undefined;
}
/** Creates a store in this process's memory: for one process, and until it ends. */
declare function memoryStore({ capacity, leaseSeconds, now, }?: MemoryStoreOptions): EventStore;

export { EventInProgressError, WebhookHandler, deduplicate, memoryStore, postgresStore, redisStore, sqliteStore };
export type { Claim, EventStore, MemoryStoreOptions, PostgresStore, PostgresStoreOptions, QueryClient, RedisClient, RedisCommand, RedisStoreOptions, SqliteDatabase, SqliteStore, SqliteStoreOptions };

// @outreach/webhook-verifier/express
import { N as NodeHandler } from './nodeHandler-CFulWqIn.js';
export { a as NodeRequest, b as NodeResponse } from './nodeHandler-CFulWqIn.js';
import { W as WebhookHandler, H as HandlerOptions } from './receive-CEodbgw_.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent-DSUsrBh0.js';

/** Creates a handler for a route of Express 4 or 5. It reads the body itself; after `express.raw()` it takes what that has read. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): NodeHandler;

export { HandlerOptions, NodeHandler, WebhookHandler, webhookHandler };

// @outreach/webhook-verifier/fastify
import { H as HandlerOptions, W as WebhookHandler } from './receive-CEodbgw_.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent-DSUsrBh0.js';

/** The parts of a Fastify instance that the plugin uses. */
interface FastifyScope {
    removeAllContentTypeParsers(): unknown;
    addContentTypeParser(contentType: string, parser: (request: unknown, body: unknown, done: (error: null, body: unknown) => void) => void): unknown;
    post(url: string, handler: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>): unknown;
}
/** The parts of a Fastify request that are read. */
interface FastifyRequest {
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    readonly body: unknown;
}
/** The parts of a Fastify reply that are written. */
interface FastifyReply {
    code(status: number): {
        headers(values: {
            readonly [name: string]: string;
        }): {
            send(body: string): unknown;
        };
    };
}
/** What the plugin can be told. */
interface PluginOptions extends HandlerOptions {
    /** The route's path, below the plugin's prefix. Default `/`. */
    readonly url?: string | undefined;
}
/**
 * Creates a Fastify plugin with one POST route, whose scope leaves bodies unread; the parsers of other routes stay as they are.
 *
 * The route reads the body itself: Fastify would answer one over its limit, and `onError` would not learn of it.
 */
declare function webhookPlugin<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: PluginOptions): (scope: FastifyScope) => Promise<void>;

export { HandlerOptions, WebhookHandler, webhookPlugin };
export type { FastifyReply, FastifyRequest, FastifyScope, PluginOptions };

// @outreach/webhook-verifier/fetch
import { W as WebhookHandler, H as HandlerOptions } from './receive-CEodbgw_.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent-DSUsrBh0.js';

declare global {
    interface Request {
    }
    interface Response {
    }
}
/**
 * Creates a handler of Fetch requests: a route of Next.js, Remix, SvelteKit or Astro, or the `fetch` of Workers, Deno and Bun.
 *
 * It takes the request itself, or an object that holds it as `request`.
 */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): (given: Request | {
    readonly request: Request;
}) => Promise<Response>;

export { HandlerOptions, WebhookHandler, webhookHandler };

// @outreach/webhook-verifier/hono
import { W as WebhookHandler, H as HandlerOptions } from './receive-CEodbgw_.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent-DSUsrBh0.js';

declare global {
    interface Request {
    }
    interface Response {
    }
}
/** The parts of a Hono context that are read. */
interface HonoContext {
    readonly req: {
        readonly raw: Request;
        readonly bodyCache: {
            readonly arrayBuffer?: unknown;
        };
    };
}
/** Creates a handler for a route of Hono; bytes that a middleware has read by `c.req.arrayBuffer()` are taken from there. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): (context: HonoContext) => Promise<Response>;

export { HandlerOptions, WebhookHandler, webhookHandler };
export type { HonoContext };

// @outreach/webhook-verifier/lambda
import { W as WebhookHandler, H as HandlerOptions } from './receive-CEodbgw_.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent-DSUsrBh0.js';

/** The parts that are read of the event of a function URL, of either API of API Gateway, or of a load balancer. */
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
/** What Lambda makes a response of. */
interface LambdaResult {
    statusCode: number;
    headers: Record<string, string>;
    body: string;
    isBase64Encoded: false;
}
/** Creates a handler for AWS Lambda, which hands bodies over as text or, with a flag, in base64. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): (event: LambdaEvent) => Promise<LambdaResult>;

export { HandlerOptions, WebhookHandler, webhookHandler };
export type { LambdaEvent, LambdaResult };

// @outreach/webhook-verifier/node
import { N as NodeHandler } from './nodeHandler-CFulWqIn.js';
export { a as NodeRequest, b as NodeResponse } from './nodeHandler-CFulWqIn.js';
import { W as WebhookHandler, H as HandlerOptions } from './receive-CEodbgw_.js';
import { WebhookVerifier } from './index.js';
import './WebhookEvent-DSUsrBh0.js';

/** Creates a handler for `createServer` of `node:http`, and for whatever hands on Node's requests. */
declare function webhookHandler<Event>(verifier: WebhookVerifier<Event>, handle: WebhookHandler<Event>, options?: HandlerOptions): NodeHandler;

export { HandlerOptions, NodeHandler, WebhookHandler, webhookHandler };

// @outreach/webhook-verifier/schemas
import { WebhookEvent } from './index.js';
import { EventSchema } from './index.js';

/** Checks every member of the events that this version knows, as the contract describes them; lets others pass. */
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
/** When a webhook is signed. */
interface SigningTime {
    /** In Unix seconds. Default: now. */
    readonly timestamp?: number | undefined;
}

/** What a sample has of its own. */
interface SampleOptions {
    /** When it is signed and emitted, in Unix seconds. Default: now. */
    readonly timestamp?: number | undefined;
    /** `evt_<hex>`. Default: another one each time. */
    readonly eventId?: string | undefined;
}
/** The types of which there are samples. */
declare const sampleTypes: readonly EventType[];
/** Creates an event of a type, with invented people. */
declare function sampleEvent<Type extends EventType>(type: Type, { timestamp, eventId }?: SampleOptions): EventOf<Type>;

/** Signs an event, or a body as it stands, with each secret, as the service does. */
declare function signWebhook(event: object | string, secrets: readonly string[], options?: SigningTime): Promise<SignedWebhook>;

export { sampleEvent, sampleTypes, signWebhook };
export type { SampleOptions, SignedWebhook, SigningTime };

// @outreach/webhook-verifier/dist/WebhookEvent-DSUsrBh0.d.ts
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

/** An event of a type that this version knows. */
type KnownEvent = {
    [Type in keyof ServiceEventData]: ServiceEvent<Type>;
}[keyof ServiceEventData] | {
    [Type in keyof ConsumerEventData]: ConsumerEvent<Type>;
}[keyof ConsumerEventData];
/** The name of an event that this version knows. */
type EventType = KnownEvent["event_type"];
/**
 * The name of an event that this version does not know: a string, of whatever value.
 *
 * An enum is the one string type to which no other literal compares, so that no comparison with a known name narrows to it; `string`, and
 * a branded string, would stay in every branch of a `switch`. No such object exists at run time.
 */
declare enum UnknownEventType {
    Newer = "a type that is newer than this version"
}

/** An event of a type that is newer than this version: acknowledge it. */
interface UnknownEvent extends EnvelopeMembers {
    event_type: UnknownEventType;
    source: string;
    data: Record<string, unknown>;
}
/** A verified event. A `switch` over `event_type` types `data`, and leaves an `UnknownEvent` to its `default`. */
type WebhookEvent = KnownEvent | UnknownEvent;
/** The events of one type, or of several. */
type EventOf<Type extends EventType> = Extract<KnownEvent, {
    event_type: Type;
}>;

export { UnknownEventType as d };
export type { CampaignSummary as C, EnvelopeMembers as E, KnownEvent as K, ProgramSummary as P, RecipientRecord as R, ServiceEventData as S, UnknownEvent as U, WebhookEvent as W, ConsumerEventData as a, EventOf as b, EventType as c };

// @outreach/webhook-verifier/dist/WebhookVerifier-DxiOX16i.d.ts
import { W as WebhookEvent } from './WebhookEvent-DSUsrBh0.js';

/** Headers of any making: a `Headers`, a `Map`, pairs, Node's `rawHeaders`, or an object; names in any case. */
type WebhookHeaders = {
    get(name: string): string | null;
    forEach(each: (value: string, name: string) => void): void;
} | Iterable<readonly [string, string | readonly string[]]> | readonly string[] | {
    readonly [name: string]: string | readonly string[] | undefined;
};
/** A request before anything parsed its body: a Fetch `Request`, or headers beside the raw body. */
type WebhookRequest = {
    readonly headers: WebhookHeaders;
    readonly bodyUsed: boolean;
    arrayBuffer(): Promise<ArrayBuffer>;
} | {
    readonly headers: WebhookHeaders;
    /** The raw body; a string stands for its UTF-8 bytes. */
    readonly body: Uint8Array | ArrayBuffer | string;
    /** The raw body where a framework keeps it beside the parsed one; comes before `body`. */
    readonly rawBody?: Uint8Array | ArrayBuffer | string | undefined;
};
/** How far a signature's timestamp may lie from the clock, in seconds. */
interface Tolerance {
    /** How old a signature may be. Default 300. */
    readonly past?: number | undefined;
    /** How far ahead the signer's clock may run. Default 300. */
    readonly future?: number | undefined;
}
/** A schema by the Standard Schema convention, as zod, Valibot and ArkType make them. */
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
/** What a schema reports, by the Standard Schema convention. */
interface FoundIssue {
    readonly message: string;
    readonly path?: readonly (PropertyKey | {
        readonly key: PropertyKey;
    })[] | undefined;
}
/** What a verifier holds. */
interface WebhookVerifierOptions<Event = WebhookEvent> {
    /** The endpoint's signing secrets, 1 to 16; during a rotation both the old and the new one. */
    readonly secrets: readonly (string | undefined)[];
    /** 0 to 3,600 seconds in both directions, or each apart; a signature exactly that far away is accepted. Default 300. */
    readonly tolerance?: number | Tolerance | undefined;
    /** The clock, in Unix seconds; it is tried at once. Default: the system's. */
    readonly now?: (() => number) | undefined;
    /**
     * Checks each event further, for instance `/schemas` of this package. An event that it refuses is answered 500, and comes again.
     * Default: the envelope alone is checked.
     */
    readonly schema?: EventSchema<Event> | undefined;
}
/** What is known of one request beside its headers and body. */
interface VerifyOptions {
    /** When a queued request was received: a `Date`, or Unix seconds. Default: now. */
    readonly receivedAt?: Date | number | undefined;
}
/** Verifies webhooks. */
interface WebhookVerifier<Event = WebhookEvent> {
    /** Verifies one request and returns its event; rejects with `WebhookVerificationError`, and with nothing else. */
    verify(request: WebhookRequest, options?: VerifyOptions): Promise<Event>;
}

export type { EventSchema as E, Tolerance as T, VerifyOptions as V, WebhookVerifier as W, WebhookVerifierOptions as a, WebhookHeaders as b, WebhookRequest as c };

// @outreach/webhook-verifier/dist/nodeHandler-CFulWqIn.d.ts
/** The parts of Node's `IncomingMessage` that are read, and what frameworks add to it. */
interface NodeRequest extends AsyncIterable<Uint8Array> {
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    readonly readableDidRead: boolean;
}
/** The parts of Node's `ServerResponse` that are written. */
interface NodeResponse {
    writeHead(status: number, headers: {
        readonly [name: string]: string;
    }): {
        end(body: string): unknown;
    };
}
/** A handler of Node's requests. */
type NodeHandler = (request: NodeRequest, response: NodeResponse) => Promise<void>;

export type { NodeHandler as N, NodeRequest as a, NodeResponse as b };

// @outreach/webhook-verifier/dist/receive-CEodbgw_.d.ts
/** What to do with an event; once it returns, the event is acknowledged, so store first and work later. */
type WebhookHandler<Event> = (event: Event) => unknown;
/** What an adapter can be told. */
interface HandlerOptions {
    /** The largest body that is taken, in bytes: 65,536, which is the largest event, or more. Default 1,048,576. */
    readonly maxBytes?: number | undefined;
    /** Is called with every rejection and every failure of the handler. Default: `console.error`. */
    readonly onError?: ((error: unknown) => void) | undefined;
}

export type { HandlerOptions as H, WebhookHandler as W };
