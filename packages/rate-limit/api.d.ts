// @outreach/rate-limit
import { N as Named, b as RateLimitPolicy } from './rateLimiter-CnsI2ohO.js';
export { D as DecideOptions, R as RateLimitDecision, c as RateLimitState, d as RateLimitStore, a as RateLimiter, e as RateLimiterOptions, S as Signal, f as Spent, g as decide, h as decideCount, r as rateLimiter, s as spend } from './rateLimiter-CnsI2ohO.js';
export { H as HeaderForm, r as rateLimitHeaders } from './rateLimitHeaders-CiXQO801.js';

/** A quota that is whole again at the end of each window. */
interface FixedWindowOptions extends Named {
    /** What each window admits; a whole number from 1. */
    readonly limit: number;
    /** Length of a window in whole seconds; windows start at multiples of it since the Unix epoch. Default 60, the clock minute. */
    readonly windowSeconds?: number | undefined;
}
/** Creates the policy of a fixed window, aligned to the clock. Throws `RangeError`, naming the option that is wrong. */
declare function fixedWindow(options: FixedWindowOptions): RateLimitPolicy;

/**
 * Returns the network that one client has to itself, as a key: an IPv4 address, or the /64 of an IPv6 address, in which a client chooses its
 * addresses freely. Empty for other texts.
 */
declare function networkOf(address: string): string;

/** How fast a bucket fills, such as `10 per second` or `100 per 15 minutes`. */
type Refill = `${number} per ${Unit}` | `${number} per ${number} ${Unit}s`;
type Unit = "second" | "minute" | "hour" | "day";
/** A bucket of tokens: a burst of `capacity`, and then as many as come in. */
interface TokenBucketOptions extends Named {
    /** The most tokens that it holds; a whole number from 1. */
    readonly capacity: number;
    /** How many tokens come in, evenly over the time: `10 per second`, `100 per 15 minutes`. */
    readonly refill: Refill;
}
/** Creates the policy of a token bucket, which is full at first. Throws `RangeError`, naming the option that is wrong. */
declare function tokenBucket(options: TokenBucketOptions): RateLimitPolicy;

export { RateLimitPolicy, fixedWindow, networkOf, tokenBucket };
export type { FixedWindowOptions, Refill, TokenBucketOptions };

// @outreach/rate-limit/express
import { RateLimitDecision, RateLimiter } from './index.js';
import { L as LimitOptions } from './limitRequest-D2H1TDWL.js';
import './rateLimitHeaders-CiXQO801.js';

/** The parts of an Express request that a limit may go by. */
interface ExpressRequest {
    readonly method: string;
    readonly path: string;
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    /** The address of the connection, or what `trust proxy` makes of it. */
    readonly ip?: string | undefined;
}
/** The parts of an Express response that are written, or that a refusal may write. */
interface ExpressResponse {
    statusCode: number;
    setHeader(name: string, value: string): unknown;
    end(body: string): unknown;
    status(status: number): {
        json(body: unknown): unknown;
        send(body: string): unknown;
    };
}
/** Whom a request of Express counts for, and the response of one over the limit. */
interface ExpressOptions extends LimitOptions<ExpressRequest> {
    /** Sends the response of a request over the limit; the headers are set. Default: a 429 in plain text. */
    refuse?(decision: RateLimitDecision, request: ExpressRequest, response: ExpressResponse): unknown;
}
/** Creates middleware for Express 4 or 5, or another framework with its signature. An error goes to `next`. */
declare function rateLimit(limiter: RateLimiter, options: ExpressOptions): (request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void) => Promise<void>;

export { LimitOptions, rateLimit };
export type { ExpressOptions, ExpressRequest, ExpressResponse };

// @outreach/rate-limit/fastify
import { RateLimitDecision, RateLimiter } from './index.js';
import { L as LimitOptions } from './limitRequest-D2H1TDWL.js';
import './rateLimitHeaders-CiXQO801.js';

/** The parts of a Fastify request that a limit may go by. */
interface LimitedRequest {
    readonly method: string;
    readonly url: string;
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    /** The address of the connection, or what `trustProxy` makes of it. */
    readonly ip: string;
}
/** The parts of a Fastify reply that are written. */
interface LimitedReply {
    headers(values: Readonly<Record<string, string>>): unknown;
    code(status: number): {
        send(body: unknown): unknown;
    };
}
/** Whom a request of Fastify counts for, and the response of one over the limit. */
interface FastifyOptions extends LimitOptions<LimitedRequest> {
    /** Sends the response of a request over the limit; the headers are set. Default: a 429 in plain text. */
    refuse?(decision: RateLimitDecision, request: LimitedRequest, reply: LimitedReply): unknown;
}
/** Creates a hook for Fastify, of an app or of a route: `onRequest`, or `preHandler` where `key` needs what other hooks found. */
declare function rateLimit(limiter: RateLimiter, options: FastifyOptions): (request: LimitedRequest, reply: LimitedReply) => Promise<unknown>;

export { LimitOptions, rateLimit };
export type { FastifyOptions, LimitedReply, LimitedRequest };

// @outreach/rate-limit/fetch
import { RateLimitDecision, RateLimiter } from './index.js';
import { L as LimitOptions } from './limitRequest-D2H1TDWL.js';
import './rateLimitHeaders-CiXQO801.js';

/** The parts of a Fetch request that a limit may go by. */
interface FetchRequest {
    readonly method: string;
    readonly url: string;
    readonly headers: {
        get(name: string): string | null;
    };
}
/** The part of a Fetch response that is written. */
interface FetchResponse {
    readonly headers: {
        set(name: string, value: string): void;
    };
}
/** Whom a Fetch request counts for, and the response of one over the limit. */
interface FetchOptions<Response> extends LimitOptions<FetchRequest> {
    /** Creates the response of a request over the limit, to which the headers are added. Default: a 429 in plain text. */
    refuse?(decision: RateLimitDecision, request: FetchRequest): Response | PromiseLike<Response>;
}
/** Wraps a handler of Fetch requests: the `fetch` of Workers, Deno, Bun or Hono, or a route of Next.js. Further arguments are handed on. */
declare function rateLimit<Request extends FetchRequest, Rest extends unknown[], Response extends FetchResponse>(limiter: RateLimiter, options: FetchOptions<Response>, handle: (request: Request, ...rest: Rest) => Response | PromiseLike<Response>): (request: Request, ...rest: Rest) => Promise<Response>;

export { LimitOptions, rateLimit };
export type { FetchOptions, FetchRequest, FetchResponse };

// @outreach/rate-limit/memory
import { RateLimitStore } from './index.js';

/** The clock and the bounds of a store in memory. */
interface MemoryStoreOptions {
    /** The clock, in Unix milliseconds: `Date.now`. */
    readonly now: () => number;
    /** How many keys of each policy are kept; a whole number from 2. Default 100,000. */
    readonly maxKeys?: number | undefined;
}
/**
 * Creates a store in this process's memory: for one process, and until it ends.
 *
 * When it is full, a key that was quiet for long goes: one that has used more than half of its limit only where more than half of all keys
 * have, and another only where they have not. So nobody is forgotten without `maxKeys / 2` others that did as much.
 */
declare function memoryStore({ now, maxKeys }: MemoryStoreOptions): RateLimitStore;

export { memoryStore };
export type { MemoryStoreOptions };

// @outreach/rate-limit/postgres
import { RateLimitStore } from './index.js';

/** Sends one statement with its parameters, and resolves to its rows. */
type PostgresQuery = (text: string, values: unknown[]) => PromiseLike<readonly unknown[]>;
/** Any PostgreSQL client: `pg`, Neon and PGlite have `query`, `postgres` has `unsafe`; for another, a function that sends a statement. */
type PostgresClient = {
    query(text: string, values: unknown[]): PromiseLike<{
        readonly rows: readonly unknown[];
    }>;
} | {
    unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
} | PostgresQuery;
/** Where a store in PostgreSQL keeps its keys. */
interface PostgresStoreOptions {
    /** The table's name, with its schema or without, in lower case. Default `rate_limits`. */
    readonly table?: string | undefined;
    /** The clock, in Unix milliseconds, the same in every process. Default: the PostgreSQL server's. */
    readonly now?: (() => number) | undefined;
}
/** A store in PostgreSQL. */
interface PostgresStore extends RateLimitStore {
    /** Creates the table unless it is there. */
    createTable(): Promise<void>;
    /** Deletes keys that have all of their limit again, at most `maxRows` (default 1000), and returns how many; call it each minute, until it returns less. */
    deleteExpired(maxRows?: number): Promise<number>;
}
/** Creates a store in PostgreSQL, for any number of processes; each request is one statement on one row. Throws `RangeError` on a table's name that would need quotes. */
declare function postgresStore(client: PostgresClient, { table, now }?: PostgresStoreOptions): PostgresStore;

export { postgresStore };
export type { PostgresClient, PostgresQuery, PostgresStore, PostgresStoreOptions };

// @outreach/rate-limit/redis
import { RateLimitStore } from './index.js';

/** Sends one command to Redis and resolves to its reply. */
type RedisCommand = (...command: string[]) => PromiseLike<unknown>;
/** Any Redis client: `ioredis` has `call`, `redis` has `sendCommand`; for another, a function that sends a command. */
type RedisClient = {
    call(command: string, ...values: string[]): PromiseLike<unknown>;
} | {
    sendCommand(command: string[]): PromiseLike<unknown>;
} | RedisCommand;
/** Where a store in Redis keeps its keys. */
interface RedisStoreOptions {
    /** What stands before each key. Default `rate-limit:`. */
    readonly prefix?: string | undefined;
    /** The clock, in Unix milliseconds, the same in every process. Default: the Redis server's. */
    readonly now?: (() => number) | undefined;
}
/**
 * Creates a store in Redis, 5 or later, for any number of processes. Each request is one script on one key, which expires by itself.
 *
 * Let the client fail quickly when Redis is away, instead of keeping commands for later: `disableOfflineQueue: true` of `redis`,
 * `enableOfflineQueue: false` of `ioredis`.
 */
declare function redisStore(client: RedisClient, { prefix, now }?: RedisStoreOptions): RateLimitStore;

export { redisStore };
export type { RedisClient, RedisCommand, RedisStoreOptions };

// @outreach/rate-limit/dist/limitRequest-D2H1TDWL.d.ts
import { H as HeaderForm } from './rateLimitHeaders-CiXQO801.js';

/** Whom a request counts for, and what it costs. A function may name the type of the framework for its request: `(request: FastifyRequest) =>`. */
interface LimitOptions<Request> {
    /**
     * Returns whom the request counts for, such as an API key that was recognised or the address of the connection; null for a request without
     * a limit. A header that the client may write, such as `X-Forwarded-For`, lets it choose whom it counts for.
     */
    key(request: Request): string | null | PromiseLike<string | null>;
    /** Returns what the request costs. Default 1. */
    cost?(request: Request): number | PromiseLike<number>;
    /** The form of the headers. Default `draft`. */
    readonly headers?: HeaderForm | undefined;
}

export type { LimitOptions as L };

// @outreach/rate-limit/dist/rateLimitHeaders-CiXQO801.d.ts
import { R as RateLimitDecision } from './rateLimiter-CnsI2ohO.js';

/** Which headers: `x` for `X-RateLimit-Limit`, `-Remaining` and `-Reset`; `draft` for `RateLimit` and `RateLimit-Policy`. */
type HeaderForm = "x" | "draft";
/**
 * Renders a decision as response headers, and as `Retry-After` where waiting helps; none for a request that was not counted.
 *
 * `X-RateLimit-Reset` is in Unix seconds. Source of `draft`: draft-ietf-httpapi-ratelimit-headers-11. Its effective window `t` is the time
 * until a window ends or a bucket is full, and never later than `Retry-After`.
 */
declare function rateLimitHeaders({ counted, limit, remaining, reset, resetAfter, retryAfter, policy }: RateLimitDecision, form: HeaderForm): Readonly<Record<string, string>>;

export { rateLimitHeaders as r };
export type { HeaderForm as H };

// @outreach/rate-limit/dist/rateLimiter-CnsI2ohO.d.ts
/** How many requests, or units of another kind, one key may take in which time. Made by `fixedWindow` or `tokenBucket`. */
interface RateLimitPolicy {
    /** What the `RateLimit` headers call it. */
    readonly name: string;
    /** The most that can be taken together: the limit of a window, or the capacity of a bucket. */
    readonly limit: number;
    /** For stores: what tells it from others that count the same key, so that no two share a count; ends with `:limit:unit:leak:windowMs`. */
    readonly id: string;
    /** For stores: they count in whole units, of which a cost of 1 takes this many. */
    readonly unit: number;
    /** For stores: the units that a bucket gets back each millisecond; 0 for a window, which gets all back at its end. */
    readonly leak: number;
    /** The length of a window, or the time in which an empty bucket fills; milliseconds. */
    readonly windowMs: number;
}
/** The name of a policy. */
interface Named {
    /** What the `RateLimit` headers call it: letters, digits, and the characters `_ . -`. Default `default`. */
    readonly name?: string | undefined;
}

/** What is kept of a key. */
interface RateLimitState {
    /** The units that it has used; of one request the policy's `unit`. */
    readonly used: number;
    /** When that was, in Unix milliseconds. */
    readonly at: number;
}
/** The outcome of a request for units, and the state after it. */
interface Spent extends RateLimitState {
    readonly allowed: boolean;
    /** The time of the request, in Unix milliseconds; earlier than `at` where a clock lags behind another's. */
    readonly now: number;
}
/**
 * Takes units from what a state leaves, if they fit. `now` is in whole Unix milliseconds.
 *
 * A clock that lags by at most a window, as another process's may, counts on at the latest time that was seen. One that lags by more was set
 * back: what is used stays used, and its time counts from then on.
 */
declare function spend({ limit, unit, leak, windowMs }: RateLimitPolicy, state: RateLimitState | undefined, units: number, now: number): Spent;

/** What a caller may do, and what its rate-limit headers say. */
interface RateLimitDecision {
    readonly allowed: boolean;
    /** The limit of the window, or the capacity of the bucket. */
    readonly limit: number;
    /** What is left now, in whole requests, never below 0. */
    readonly remaining: number;
    /** Unix seconds at which all of the limit is there again; whole. */
    readonly reset: number;
    /** Whole seconds until `reset`. */
    readonly resetAfter: number;
    /** Whole seconds, at least 1, after which the same request fits; null when allowed, and for a cost above the limit, which never fits. */
    readonly retryAfter: number | null;
    /** False where the store was away and `whenAway` let the request through: then there are no headers, and the numbers mean nothing. */
    readonly counted: boolean;
    readonly policy: RateLimitPolicy;
}
/** A request for a part of the limit. */
interface DecideOptions {
    /** What the request costs; a whole number from 0. Default 1. */
    readonly cost?: number | undefined;
    /** The time, in Unix milliseconds, as `Date.now()` gives it. */
    readonly now: number;
}
/**
 * Decides about a request, and returns the state to keep for its key. The first request of a key has no state.
 *
 * Throws `RangeError` on a cost that is not a whole number, and on a time that is no time.
 */
declare function decide(policy: RateLimitPolicy, state: RateLimitState | undefined, { cost, now }: DecideOptions): {
    readonly decision: RateLimitDecision;
    readonly state: RateLimitState;
};
/** Decides about the request that made the count of its fixed window `count`, where you count yourself: the first has 1, and 0 shows an untouched window. `now` is in Unix milliseconds. */
declare function decideCount(policy: RateLimitPolicy, count: number, now: number): RateLimitDecision;

/** Keeps what each key has used: `memoryStore`, `redisStore`, `postgresStore`, or your own around `spend`. */
interface RateLimitStore {
    /** Takes units from what a key has left of a policy, if they fit, in one step that no other can part. Each `policy.id` has keys of its own. */
    spend(key: string, units: number, policy: RateLimitPolicy): Spent | PromiseLike<Spent>;
}
/** What a limiter does when its store fails, or does not respond. */
interface RateLimiterOptions {
    /** Creates the signal that ends the wait for the store, for each request: `() => AbortSignal.timeout(200)`. Default: none, so only the client ends it. */
    readonly signal?: (() => Signal) | undefined;
    /** Whether `take` then throws the store's error or the signal's reason, or allows the request without counting it. Default `throw`. */
    readonly whenAway?: "throw" | "allow" | undefined;
    /** Is called with the store's error for each request that was allowed without counting it. */
    readonly onAway?: ((error: unknown) => void) | undefined;
}
/** The part of an `AbortSignal` that is used. */
interface Signal {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: "abort", listener: () => void): void;
}
/** A limit for each key. */
interface RateLimiter {
    readonly policy: RateLimitPolicy;
    /**
     * Takes from what a key has left, if it fits; a cost of 0 only asks. `cost` is a whole number, by default 1.
     *
     * Throws `RangeError` on a key of more than 512 characters or with NUL, and on a cost that is not a whole number; and what the store throws.
     */
    take(key: string, options?: {
        readonly cost?: number | undefined;
    }): Promise<RateLimitDecision>;
}
/** Creates a limiter that keeps to a policy over all processes that share its store. */
declare function rateLimiter(policy: RateLimitPolicy, store: RateLimitStore, { signal, whenAway, onAway }?: RateLimiterOptions): RateLimiter;

export { decide as g, decideCount as h, rateLimiter as r, spend as s };
export type { DecideOptions as D, Named as N, RateLimitDecision as R, Signal as S, RateLimiter as a, RateLimitPolicy as b, RateLimitState as c, RateLimitStore as d, RateLimiterOptions as e, Spent as f };
