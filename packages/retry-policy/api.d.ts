/** The outcome of an attempt. */
interface Outcome {
    /** Whether the attempt succeeded, failed temporarily or failed permanently. */
    readonly verdict: "success" | "transient" | "permanent";
    /** Reason, for logs: a status such as `503`, or an error's code or name such as `ECONNREFUSED` or `TimeoutError`. */
    readonly reason: string;
    /** Milliseconds that the response requires to wait. */
    readonly retryAfter?: number | undefined;
}
/** Retryable failures: a status, a class of statuses, all network failures, all other errors except aborts, or an error's code or name. */
type RetryOn = number | "1xx" | "3xx" | "4xx" | "5xx" | "network" | "error" | (string & {});
/** The options of `classify`. */
interface ClassifyOptions {
    /** Retryable failures. Default `["5xx", "network"]`; 408, 425 and 429 are opt-in. */
    readonly retryOn?: readonly RetryOn[] | undefined;
    /** Current Unix time in milliseconds, such as `Date.now`, for a `Retry-After` date in a response without `Date`. */
    readonly now?: (() => number) | undefined;
}
/**
 * Classifies the result or the error of an attempt: a response or an error of fetch, undici or Node, an error with a `response`, or an error of the AWS SDK.
 *
 * Success: status 2xx, and any value that is neither a response (has `headers`) nor an error. Otherwise transient if `retryOn` matches, else permanent.
 */
declare function classify(result: unknown, { retryOn, now }?: ClassifyOptions): Outcome;

/** Milliseconds, or a whole number with its unit, such as `500ms`, `30s`, `10m`, `6h` or `14d`. */
type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;
/**
 * Returns the milliseconds of a duration: text such as `500ms` or `14d`, or milliseconds as a number, at most 366 days.
 *
 * Throws `RangeError` on anything else; `name` begins its message.
 */
declare function parseDuration(duration: number | string, name?: string): number;

/** Decides whether another attempt follows. Stateless. */
interface Policy {
    /** Throws `RangeError` if `attempt`, `elapsed` or `random` is missing or invalid. */
    readonly next: (ended: EndedAttempt) => Next;
}
/** An attempt that has ended. */
interface EndedAttempt {
    /** Attempt number, starting at 1. */
    readonly attempt: number;
    readonly outcome: Pick<Outcome, "verdict" | "retryAfter">;
    /** Milliseconds since the start of the first attempt. Required for a policy with a deadline. */
    readonly elapsed?: number | undefined;
    /** Uniform in [0, 1), such as `Math.random`. Required for a policy with jitter. */
    readonly random?: (() => number) | undefined;
}
/** Either another attempt after `delay` milliseconds (fractional with jitter), or none. */
type Next = {
    readonly retry: true;
    readonly delay: number;
} | {
    readonly retry: false;
    /** The attempt succeeded or failed permanently, no attempts are left, or the next one would start after the deadline. */
    readonly because: "success" | "permanent" | "exhausted" | "deadline";
};
/** Options of every policy. */
interface PolicyOptions {
    /** How much of each delay is random: all of it, its second half, or none. */
    readonly jitter?: "full" | "equal" | "none" | undefined;
    /** Time after the start of the first attempt in which another one may start. Default: unlimited. */
    readonly deadline?: Duration | undefined;
    /** Maximum wait because of `Retry-After`; longer values are reduced to it. Default 1h. */
    readonly maxRetryAfter?: Duration | undefined;
}

/** Options of `exponential`. */
interface ExponentialOptions extends PolicyOptions {
    /** The delay after the first attempt. Default 200ms. */
    readonly first?: Duration | undefined;
    /** Ratio of each delay to the one before. Default 2. */
    readonly factor?: number | undefined;
    /** Maximum delay. Default 30s. */
    readonly most?: Duration | undefined;
    /** Total number of attempts; `Infinity` for no limit. Default 6. */
    readonly attempts?: number | undefined;
}
/** Creates a policy with exponentially growing delays. Jitter is `full` by default. Throws `RangeError` that names the option. */
declare function exponential({ first, factor, most, attempts, jitter, ...options }?: ExponentialOptions): Policy;

/** Reference time for a date in `Retry-After`. */
interface RetryAfterOptions {
    /** The `Date` of the same response. Preferred, because clocks differ. */
    readonly date?: string | null | undefined;
    /** Current Unix time in milliseconds, such as `Date.now`. */
    readonly now?: (() => number) | undefined;
}
/**
 * Parses a `Retry-After` value (seconds or an HTTP date in any of its forms). Returns milliseconds.
 *
 * Returns 0 for a date in the past, and undefined for invalid values such as `-5`. Source: RFC 9110, 10.2.3 and 5.6.7.
 */
declare function parseRetryAfter(value: string | null | undefined, { date, now }?: RetryAfterOptions): number | undefined;

/** The subset of `AbortSignal` that `retry` uses. */
interface AbortSignalLike {
    readonly aborted: boolean;
    readonly throwIfAborted: () => void;
    readonly addEventListener: (type: "abort", listener: () => void) => void;
    readonly removeEventListener: (type: "abort", listener: () => void) => void;
}
/** Argument of a task. */
interface Run<Signal> {
    /** Attempt number, starting at 1. */
    readonly attempt: number;
    /** The caller's signal, to pass on; null without one. */
    readonly signal: Signal | null;
}
/** A finished attempt and the decision about the next. */
interface Attempted<Result> {
    readonly attempt: number;
    readonly outcome: Outcome;
    readonly next: Next;
    /** The task's result; undefined if it threw. */
    readonly result?: Result | undefined;
    /** The error that the task threw, or passed to `stop`. */
    readonly error?: unknown;
}
/** Options of `retry`. */
interface RetryOptions<Result, Signal extends AbortSignalLike> {
    /** Waits. May clear its timer when the signal aborts; `retry` rejects immediately in either case. Default: a timer. */
    readonly sleep?: ((milliseconds: number, signal: Signal | undefined) => PromiseLike<unknown>) | undefined;
    /** Current Unix time in milliseconds. Default `Date.now`. */
    readonly now?: (() => number) | undefined;
    /** Uniform in [0, 1). Default `Math.random`. */
    readonly random?: (() => number) | undefined;
    /** Retryable failures. Default `["5xx", "network"]`; 408, 425 and 429 are opt-in. */
    readonly retryOn?: readonly RetryOn[] | undefined;
    /** Classifies the task's result or error, instead of `classify` with `retryOn`. */
    readonly classify?: ((settled: unknown) => Outcome) | undefined;
    /** Stops waiting and starts no further attempt: `retry` rejects with the signal's reason, unless the running attempt succeeds. */
    readonly signal?: Signal | undefined;
    /** Called and awaited after each attempt, for example for logging. If it throws, `retry` rejects with that error. */
    readonly onAttempt?: ((attempted: Attempted<Result>) => unknown) | undefined;
}
/**
 * Runs a task until it succeeds, throws `stop(error)`, or the policy allows no further attempt.
 *
 * The default policy is `exponential({ deadline: "1m" })`: 6 attempts within a minute, with random waits of up to 0.2, 0.4, 0.8, 1.6 and 3.2 seconds.
 *
 * Returns the last attempt's result, even if it is an unsuccessful response, or throws its error. Bodies of earlier responses are
 * discarded to free their connections.
 */
declare function retry<Result, Signal extends AbortSignalLike = never>(task: (run: Run<Signal>) => Result | PromiseLike<Result>, policy?: Policy, options?: RetryOptions<Result, Signal>): Promise<Result>;

/** A policy with listed delays. */
interface Schedule extends Policy {
    /** Milliseconds between attempts; n delays allow n + 1 attempts. */
    readonly delays: readonly number[];
}
/**
 * Creates a policy from its delays: a list of durations, or text such as `30s, 2m, 10m`.
 *
 * `0s` is an immediate retry; an empty list allows a single attempt. Jitter is `none` by default. Throws `RangeError` that names the delay or the option.
 */
declare function schedule(delays: string | readonly (number | string)[], options?: PolicyOptions): Schedule;

/**
 * Creates an error for a task to throw if another attempt is pointless: `throw stop(error)`.
 *
 * `retry` starts no further attempt and rejects with `error` itself, unchanged. `classify` returns `permanent` for it.
 */
declare function stop(error: unknown): Error;

export { classify, exponential, parseDuration, parseRetryAfter, retry, schedule, stop };
export type { AbortSignalLike, Attempted, ClassifyOptions, Duration, EndedAttempt, ExponentialOptions, Next, Outcome, Policy, PolicyOptions, RetryAfterOptions, RetryOn, RetryOptions, Run, Schedule };
