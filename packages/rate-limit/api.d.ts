// @outreach/rate-limit
import { N as Named, b as RateLimitPolicy } from './rateLimiter.js';
export { C as Change, D as DecideOptions, R as RateLimitDecision, c as RateLimitState, d as RateLimitStore, a as RateLimiter, e as RateLimiterOptions, S as Signal, f as Spent, g as decide, h as decideCount, r as rateLimiter, s as spend } from './rateLimiter.js';
export { H as HeaderForm, r as rateLimitHeaders } from './rateLimitHeaders.js';

/** Options of `fixedWindow`. */
interface FixedWindowOptions extends Named {
    /** Maximum per window, a whole number of at least 1. */
    readonly limit: number;
    /** Length of a window in whole seconds. Windows start at multiples of it since the Unix epoch. Default 60, the clock minute. */
    readonly windowSeconds?: number | undefined;
}
/** Creates a fixed-window policy, aligned to the clock. Throws `RangeError` that names the invalid option. */
declare function fixedWindow(options: FixedWindowOptions): RateLimitPolicy;

/**
 * Returns the key of a client's address: an IPv4 address, also for an IPv4-mapped one, or the network of an IPv6 address, such as
 * `2001:db8:1:200::/56`. `ipv6Prefix` is the length of a client's network, 1 to 128 bits. Default 56: many providers assign a /56 to each customer.
 *
 * Throws `RangeError` unless it is an address without a port, and on other prefixes. A zone (`%eth0`) is ignored.
 */
declare function keyOfAddress(address: string | null | undefined, { ipv6Prefix }?: {
    readonly ipv6Prefix?: number | undefined;
}): string;

/** Refill rate of a bucket, such as `10 per second` or `100 per 15 minutes`. */
type Refill = `${number} per ${Unit}` | `${number} per ${number} ${Unit}s`;
type Unit = "second" | "minute" | "hour" | "day";
/** Options of `tokenBucket`: a burst of `capacity`, then the refill rate. */
interface TokenBucketOptions extends Named {
    /** Maximum number of tokens, at least 1. */
    readonly capacity: number;
    /** Tokens added per time, evenly distributed: `10 per second`, `100 per 15 minutes`. */
    readonly refill: Refill;
}
/** Creates a token-bucket policy. Buckets start full. Throws `RangeError` that names the invalid option. */
declare function tokenBucket(options: TokenBucketOptions): RateLimitPolicy;

export { RateLimitPolicy, fixedWindow, keyOfAddress, tokenBucket };
export type { FixedWindowOptions, Refill, TokenBucketOptions };

// @outreach/rate-limit/express
import { RateLimitDecision, RateLimiter } from './index.js';
import { L as LimitOptions } from './limitRequest.js';
import './rateLimitHeaders.js';

/** The parts of an Express request that a limit can use. */
interface ExpressRequest {
    readonly method: string;
    readonly path: string;
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    /** The client's address, according to `trust proxy`. */
    readonly ip?: string | undefined;
}
/** The parts of an Express response that the middleware and `refuse` use. */
interface ExpressResponse {
    statusCode: number;
    setHeader(name: string, value: string): unknown;
    end(body: string): unknown;
    once(event: "finish", listener: () => void): unknown;
    status(status: number): {
        json(body: unknown): unknown;
        send(body: string): unknown;
    };
}
/** Options of the Express middleware. */
interface ExpressOptions extends LimitOptions<ExpressRequest> {
    /** Sends the response of a rejected request; the headers are already set. Default: a 429 in plain text. */
    refuse?(decision: RateLimitDecision, request: ExpressRequest, response: ExpressResponse): unknown;
}
/** Creates middleware for Express 4 or 5 and compatible frameworks. Errors are passed to `next`. */
declare function rateLimit(limiter: RateLimiter, options: ExpressOptions): (request: ExpressRequest, response: ExpressResponse, next: (error?: unknown) => void) => Promise<void>;

export { LimitOptions, rateLimit };
export type { ExpressOptions, ExpressRequest, ExpressResponse };

// @outreach/rate-limit/fastify
import { RateLimitDecision, RateLimiter } from './index.js';
import { L as LimitOptions } from './limitRequest.js';
import './rateLimitHeaders.js';

/** The parts of a Fastify request that a limit can use. */
interface LimitedRequest {
    readonly method: string;
    readonly url: string;
    readonly headers: {
        readonly [name: string]: string | string[] | undefined;
    };
    /** The client's address, according to `trustProxy`. */
    readonly ip: string;
}
/** The parts of a Fastify reply that the hook uses. */
interface LimitedReply {
    headers(values: Readonly<Record<string, string>>): unknown;
    code(status: number): {
        send(body: unknown): unknown;
    };
    readonly raw: {
        readonly statusCode: number;
        once(event: "finish", listener: () => void): unknown;
    };
}
/** Options of the Fastify hook. */
interface FastifyOptions extends LimitOptions<LimitedRequest> {
    /** Sends the response of a rejected request; the headers are already set. Default: a 429 in plain text. */
    refuse?(decision: RateLimitDecision, request: LimitedRequest, reply: LimitedReply): unknown;
}
/** Creates a Fastify hook for an app or a route: `onRequest`, or `preHandler` if `key` needs results of other hooks. */
declare function rateLimit(limiter: RateLimiter, options: FastifyOptions): (request: LimitedRequest, reply: LimitedReply) => Promise<unknown>;

export { LimitOptions, rateLimit };
export type { FastifyOptions, LimitedReply, LimitedRequest };

// @outreach/rate-limit/fetch
import { RateLimitDecision, RateLimiter } from './index.js';
import { L as LimitOptions } from './limitRequest.js';
import './rateLimitHeaders.js';

/** The parts of a Fetch request that a limit can use. */
interface FetchRequest {
    readonly method: string;
    readonly url: string;
    readonly headers: {
        get(name: string): string | null;
    };
}
/** The parts of a Fetch response that the wrapper uses. */
interface FetchResponse {
    readonly status: number;
    readonly headers: {
        set(name: string, value: string): void;
    };
}
/** Options of the Fetch wrapper. */
interface FetchOptions<Response> extends LimitOptions<FetchRequest> {
    /** Creates the response of a rejected request; the headers are added to it. Default: a 429 in plain text. */
    refuse?(decision: RateLimitDecision, request: FetchRequest): Response | PromiseLike<Response>;
}
/** Wraps a Fetch handler: `fetch` of Workers, Deno, Bun or Hono, or a Next.js route. Passes further arguments on. */
declare function rateLimit<Request extends FetchRequest, Rest extends unknown[], Response extends FetchResponse>(limiter: RateLimiter, options: FetchOptions<Response>, handle: (request: Request, ...rest: Rest) => Response | PromiseLike<Response>): (request: Request, ...rest: Rest) => Promise<Response>;

export { LimitOptions, rateLimit };
export type { FetchOptions, FetchRequest, FetchResponse };

// @outreach/rate-limit/memory
import { RateLimitStore } from './index.js';

/** Options of `memoryStore`. */
interface MemoryStoreOptions {
    /** Current time in Unix milliseconds: `Date.now`. */
    readonly now: () => number;
    /** Maximum number of keys per policy, at least 2. Default 100,000. */
    readonly maxKeys?: number | undefined;
}
/**
 * Creates a store in this process's memory.
 *
 * When it is full, it evicts the least recently active key: a key that used more than half of its limit only if more than half of
 * all keys did, otherwise another one. So an attacker must spend as much on `maxKeys / 2` other keys to evict a key.
 */
declare function memoryStore({ now, maxKeys }: MemoryStoreOptions): RateLimitStore;

export { memoryStore };
export type { MemoryStoreOptions };

// @outreach/rate-limit/postgres
import { RateLimitStore } from './index.js';

/** Runs one statement with parameters. Resolves to its rows. */
type PostgresQuery = (text: string, values: unknown[]) => PromiseLike<readonly unknown[]>;
/** Any PostgreSQL client: `pg`, Neon and PGlite (`query`), `postgres` (`unsafe`), or a function that runs a statement. */
type PostgresClient = {
    query(text: string, values: unknown[]): PromiseLike<{
        readonly rows: readonly unknown[];
    }>;
} | {
    unsafe(text: string, values: any[]): PromiseLike<readonly unknown[]>;
} | PostgresQuery;
/** Options of `postgresStore`. */
interface PostgresStoreOptions {
    /** Table name in lower case, optionally with a schema. Default `rate_limits`. */
    readonly table?: string | undefined;
    /** Current time in Unix milliseconds, the same for all processes. Default: the PostgreSQL server's clock. */
    readonly now?: (() => number) | undefined;
}
/** A store in PostgreSQL. */
interface PostgresStore extends RateLimitStore {
    /** Creates the table if it doesn't exist. */
    createTable(): Promise<void>;
    /** Deletes unused keys, at most `maxRows` (default 1000). Returns their number. Call it every minute, and again while it returns `maxRows`. */
    deleteExpired(maxRows?: number): Promise<number>;
}
/** Creates a store in PostgreSQL for any number of processes. Each request is one statement on one row. Throws `RangeError` on table names that need quotes. */
declare function postgresStore(client: PostgresClient, { table, now }?: PostgresStoreOptions): PostgresStore;

export { postgresStore };
export type { PostgresClient, PostgresQuery, PostgresStore, PostgresStoreOptions };

// @outreach/rate-limit/redis
import { RateLimitStore } from './index.js';

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
    /** Key prefix. Default `rate-limit:`. */
    readonly prefix?: string | undefined;
    /** Current time in Unix milliseconds, the same for all processes. Default: the Redis server's clock. */
    readonly now?: (() => number) | undefined;
}
/**
 * Creates a store in Redis 5 or later for any number of processes. Each request is one script on one key, which expires.
 *
 * Configure the client to fail quickly while Redis is unavailable instead of queueing commands: `disableOfflineQueue: true` for `redis`,
 * `enableOfflineQueue: false` for `ioredis`.
 */
declare function redisStore(client: RedisClient, { prefix, now }?: RedisStoreOptions): RateLimitStore;

export { redisStore };
export type { RedisClient, RedisCommand, RedisStoreOptions };

// @outreach/rate-limit/dist/limitRequest.d.ts
import { H as HeaderForm } from './rateLimitHeaders.js';

/** Options of all adapters. Functions may declare the framework's request type: `(request: FastifyRequest) =>`. */
interface LimitOptions<Request> {
    /**
     * Returns the key that the request counts for, such as a verified API key or the client's address; null exempts the
     * request. Don't use a header that clients can set, such as `X-Forwarded-For`: it lets them choose their key.
     */
    key(request: Request): string | null | PromiseLike<string | null>;
    /** Returns the cost of the request. Default 1. */
    cost?(request: Request): number | PromiseLike<number>;
    /**
     * Returns whether a request counts, by the status of its response: `(status) => status === 401` counts failed logins. Default: each counts.
     *
     * Each request is counted first, and given back after its response, so concurrent requests can't exceed the limit.
     */
    counts?(status: number): boolean;
    /** Header format. Default `draft`. */
    readonly headers?: HeaderForm | undefined;
}

export type { LimitOptions as L };

// @outreach/rate-limit/dist/rateLimitHeaders.d.ts
import { R as RateLimitDecision } from './rateLimiter.js';

/** Header format: `x` for `X-RateLimit-Limit`, `-Remaining` and `-Reset`; `draft` for `RateLimit` and `RateLimit-Policy`. */
type HeaderForm = "x" | "draft";
/**
 * Formats a decision as response headers, including `Retry-After` if waiting helps. Returns none for an uncounted request.
 *
 * `X-RateLimit-Reset` is in Unix seconds. Source of `draft`: draft-ietf-httpapi-ratelimit-headers-11. The effective window `t` is the time
 * until the window ends or the bucket is full, and never later than `Retry-After`.
 */
declare function rateLimitHeaders({ counted, limit, remaining, reset, resetAfter, retryAfter, policy }: RateLimitDecision, form: HeaderForm): Readonly<Record<string, string>>;

export { rateLimitHeaders as r };
export type { HeaderForm as H };

// @outreach/rate-limit/dist/rateLimiter.d.ts
/** Limit of requests (or other units) per key and time. Created by `fixedWindow` or `tokenBucket`. */
interface RateLimitPolicy {
    /** Name of the policy in the `RateLimit` headers. */
    readonly name: string;
    /** Maximum that can be taken at once: the limit of a window, or the capacity of a bucket. */
    readonly limit: number;
    /** For stores: identifies the policy, so that different policies don't share counts. Ends with `:limit:unit:leak:windowMs`. */
    readonly id: string;
    /** For stores: number of units for a cost of 1. */
    readonly unit: number;
    /** For stores: units that a bucket regains each millisecond; 0 for a window, which resets at its end. */
    readonly leak: number;
    /** Length of a window, or the time to fill an empty bucket, in milliseconds. */
    readonly windowMs: number;
}
/** Options of every policy. */
interface Named {
    /** Name in the `RateLimit` headers: letters, digits, `_`, `.` and `-`. Default `default`. */
    readonly name?: string | undefined;
}

/** Stored state of a key. */
interface RateLimitState {
    /** Used units; one request of cost 1 uses the policy's `unit`. */
    readonly used: number;
    /** Time of the state in Unix milliseconds. */
    readonly at: number;
}
/** Change of a key's usage. */
interface Change {
    /** Units to take, or to give back if negative. */
    readonly units: number;
    /** Unix milliseconds. Before it, as many units change as possible. From then on, units are only taken, if all fit. 0 for a request. */
    readonly forceUntil: number;
}
/** Result of a change, with the state after it. */
interface Spent extends RateLimitState {
    readonly allowed: boolean;
    /** Time of the request in Unix milliseconds; earlier than `at` if this clock is behind. */
    readonly now: number;
}
/**
 * Changes the usage of a state, within 0 and the limit. `now` is in whole Unix milliseconds.
 *
 * A clock that is behind by at most one window (another process's clock) uses the latest time seen. A clock that is further behind was set
 * back: the usage is kept, and its time restarts from there.
 */
declare function spend({ limit, unit, leak, windowMs }: RateLimitPolicy, state: RateLimitState | undefined, { units, forceUntil }: Change, now: number): Spent;

/** The decision about a request, with the values of its rate-limit headers. */
interface RateLimitDecision {
    readonly allowed: boolean;
    /** Limit of the window, or capacity of the bucket. */
    readonly limit: number;
    /** Remaining whole requests, at least 0. */
    readonly remaining: number;
    /** Time at which the full limit is available again, in whole Unix seconds. */
    readonly reset: number;
    /** `reset` in Unix milliseconds, not rounded. */
    readonly fullAt: number;
    /** Whole seconds until `reset`. */
    readonly resetAfter: number;
    /** Whole seconds, at least 1, until the same request is allowed; null if it is allowed now, or if its cost exceeds the limit. */
    readonly retryAfter: number | null;
    /** False if the store was unavailable and `whenAway` allowed the request. Then there are no headers, and the numbers are meaningless. */
    readonly counted: boolean;
    readonly policy: RateLimitPolicy;
}
/** Options of `decide`. */
interface DecideOptions {
    /** Cost of the request, a whole number of at least 0. Default 1. */
    readonly cost?: number | undefined;
    /** Current time in Unix milliseconds, such as `Date.now()`. */
    readonly now: number;
}
/**
 * Decides about a request. Returns the decision and the new state of its key. A key's first request has no state.
 *
 * Throws `RangeError` unless the cost is a whole number and the time is valid.
 */
declare function decide(policy: RateLimitPolicy, state: RateLimitState | undefined, { cost, now }: DecideOptions): {
    readonly decision: RateLimitDecision;
    readonly state: RateLimitState;
};
/** Decides about a request of a fixed window that you count yourself: `count` includes the request, and 0 shows an unused window. `now` is in Unix milliseconds. */
declare function decideCount(policy: RateLimitPolicy, count: number, now: number): RateLimitDecision;

/** Stores the usage of each key: `memoryStore`, `redisStore`, `postgresStore`, or a custom implementation based on `spend`. */
interface RateLimitStore {
    /** Atomically changes a key's usage as `spend` does. Each `policy.id` has separate keys. */
    spend(key: string, change: Change, policy: RateLimitPolicy): Spent | PromiseLike<Spent>;
}
/** Behavior when the store fails or doesn't respond. */
interface RateLimiterOptions {
    /** Creates an abort signal for each store request: `() => AbortSignal.timeout(200)`. Default: none, so only the client's own timeout applies. */
    readonly signal?: (() => Signal) | undefined;
    /** Whether methods throw the store's error or the signal's reason, or return an allowed, uncounted decision. Default `throw`. */
    readonly whenAway?: "throw" | "allow" | undefined;
    /** Called with each error of the store, also if it is thrown. */
    readonly onAway?: ((error: unknown) => void) | undefined;
}
/** The subset of `AbortSignal` that is used. */
interface Signal {
    readonly aborted: boolean;
    readonly reason: unknown;
    addEventListener(type: "abort", listener: () => void): void;
}
/** A limit for each key. */
interface RateLimiter {
    readonly policy: RateLimitPolicy;
    /**
     * Takes from a key's remainder if it fits. A cost of 0 only reads. `cost` is a whole number, default 1.
     *
     * Throws `RangeError` on keys with more than 512 characters or NUL and on invalid costs; also throws the store's errors.
     */
    take(key: string, options?: {
        readonly cost?: number | undefined;
    }): Promise<RateLimitDecision>;
    /** Takes from a key's remainder as much as is left, at most `cost` (default 1). The next three throw and return the same as `take` with a cost of 0. */
    penalty(key: string, cost?: number): Promise<RateLimitDecision>;
    /**
     * Gives back to a key, at most its full limit. `cost` defaults to 1.
     *
     * To undo a `take`, pass its decision. Then nothing is given back from its `fullAt` on, because the key regained it already.
     */
    reward(key: string, cost?: number, undo?: RateLimitDecision): Promise<RateLimitDecision>;
    /** Gives a key its full limit. */
    reset(key: string): Promise<RateLimitDecision>;
}
/** Creates a limiter that enforces a policy across all processes that share its store. */
declare function rateLimiter(policy: RateLimitPolicy, store: RateLimitStore, { signal, whenAway, onAway }?: RateLimiterOptions): RateLimiter;

export { decide as g, decideCount as h, rateLimiter as r, spend as s };
export type { Change as C, DecideOptions as D, Named as N, RateLimitDecision as R, Signal as S, RateLimiter as a, RateLimitPolicy as b, RateLimitState as c, RateLimitStore as d, RateLimiterOptions as e, Spent as f };
