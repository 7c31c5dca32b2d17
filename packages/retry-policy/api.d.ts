/** The outcome of an attempt. */
interface Outcome {
    /** Whether it succeeded, failed for now, or failed for good. */
    readonly verdict: "success" | "transient" | "permanent";
    /** Why, for a log: the status such as `503`, or the code or name of the error such as `ECONNREFUSED` or `TimeoutError`. */
    readonly reason: string;
    /** Milliseconds that the response asked to wait. */
    readonly retryAfter?: number | undefined;
}
/** What is worth another attempt: a status, a class of statuses, every failure of the network, every other error except an abort, or a code or name of an error. */
type RetryOn = number | "1xx" | "3xx" | "4xx" | "5xx" | "network" | "error" | (string & {});
/** The options of `classify`. */
interface ClassifyOptions {
    /** What is worth another attempt. Default `["5xx", "network"]`: 408, 425 and 429 are yours to add. */
    readonly retryOn?: readonly RetryOn[] | undefined;
    /** The present in Unix milliseconds, such as `Date.now`, for a `Retry-After` that is a date in a response without `Date`. */
    readonly now?: (() => number) | undefined;
}
/**
 * Judges what an attempt returned or threw: a response or an error of fetch, undici or Node, or an error that holds a `response`.
 *
 * A status of 2xx is a success, and so is what is neither a response, which has `headers`, nor an error. All else is transient where `retryOn` names it, and permanent otherwise.
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

/** Decides what follows an attempt. It remembers nothing. */
interface Policy {
    /** Throws `RangeError` on an `attempt`, an `elapsed` or a `random` that is missing or cannot be right. */
    readonly next: (ended: EndedAttempt) => Next;
}
/** An attempt that has ended. */
interface EndedAttempt {
    /** Its number, from 1. */
    readonly attempt: number;
    readonly outcome: Pick<Outcome, "verdict" | "retryAfter">;
    /** Milliseconds since the first attempt began. A policy with a deadline needs it. */
    readonly elapsed?: number | undefined;
    /** Uniform in [0, 1), such as `Math.random`. A policy with jitter needs it. */
    readonly random?: (() => number) | undefined;
}
/** What follows: another attempt after `delay` milliseconds, which jitter makes fractions of, or none. */
type Next = {
    readonly retry: true;
    readonly delay: number;
} | {
    readonly retry: false;
    /** It succeeded, or failed for good; there is no further attempt; or the next one would begin after the deadline. */
    readonly because: "success" | "permanent" | "exhausted" | "deadline";
};
/** The options of every kind of policy. */
interface PolicyOptions {
    /** How much of each delay is left to chance: all of it, its second half, or nothing. */
    readonly jitter?: "full" | "equal" | "none" | undefined;
    /** How long after the begin of the first attempt another may begin. Default: for ever. */
    readonly deadline?: Duration | undefined;
    /** The most that is waited because of `Retry-After`; one that is longer is cut to this. Default 1h. */
    readonly maxRetryAfter?: Duration | undefined;
}

/** How delays grow. */
interface ExponentialOptions extends PolicyOptions {
    /** The delay after the first attempt. Default 200ms. */
    readonly first?: Duration | undefined;
    /** How many times as long each delay is as the one before. Default 2. */
    readonly factor?: number | undefined;
    /** The longest delay. Default 30s. */
    readonly most?: Duration | undefined;
    /** How many attempts there are in all; `Infinity` for no end. Default 6. */
    readonly attempts?: number | undefined;
}
/** Creates a policy whose delays grow by a factor. Jitter is `full` by default. Throws `RangeError`, which names the option. */
declare function exponential({ first, factor, most, attempts, jitter, ...options }?: ExponentialOptions): Policy;

/** What a date in `Retry-After` is counted from. */
interface RetryAfterOptions {
    /** The same response's `Date`, which has preference, because clocks differ. */
    readonly date?: string | null | undefined;
    /** The present in Unix milliseconds, such as `Date.now`. */
    readonly now?: (() => number) | undefined;
}
/**
 * Reads a value of `Retry-After`, seconds or an HTTP date in any of its forms, and returns milliseconds.
 *
 * Returns 0 for a date that has passed, and undefined for what is neither, such as `-5`. Source: RFC 9110, 10.2.3 and 5.6.7.
 */
declare function parseRetryAfter(value: string | null | undefined, { date, now }?: RetryAfterOptions): number | undefined;

/** As much of an `AbortSignal` as is needed. */
interface AbortSignalLike {
    readonly throwIfAborted: () => void;
    readonly addEventListener: (type: "abort", listener: () => void) => void;
    readonly removeEventListener: (type: "abort", listener: () => void) => void;
}
/** What a task is handed. */
interface Run<Signal> {
    /** The number of the attempt, from 1. */
    readonly attempt: number;
    /** The caller's signal, to hand on; null where there is none. */
    readonly signal: Signal | null;
}
/** An attempt that has ended, and what follows. */
interface Attempted<Result> {
    readonly attempt: number;
    readonly outcome: Outcome;
    readonly next: Next;
    /** What the task returned; undefined where it threw. */
    readonly result?: Result | undefined;
    /** What the task threw. */
    readonly error?: unknown;
}
/** The options of `retry`. */
interface RetryOptions<Result, Signal extends AbortSignalLike> {
    /** Waits. It may clear its timer when the signal aborts; `retry` ends immediately in either case. */
    readonly sleep: (milliseconds: number, signal: Signal | undefined) => PromiseLike<unknown>;
    /** The present in Unix milliseconds, such as `Date.now`. */
    readonly now: () => number;
    /** Uniform in [0, 1), such as `Math.random`. A policy with jitter needs it. */
    readonly random?: (() => number) | undefined;
    /** What is worth another attempt. Default `["5xx", "network"]`: 408, 425 and 429 are yours to add. */
    readonly retryOn?: readonly RetryOn[] | undefined;
    /** Judges what the task returned or threw, in the place of `classify` with `retryOn`. */
    readonly classify?: ((settled: unknown) => Outcome) | undefined;
    /** Ends a wait, and begins no further attempt: `retry` rejects with its reason. */
    readonly signal?: Signal | undefined;
    /** Called after each attempt, and waited for, such as for a log. What it throws ends `retry`. */
    readonly onAttempt?: ((attempted: Attempted<Result>) => unknown) | undefined;
}
/**
 * Runs a task until it succeeds, or its policy has no further attempt.
 *
 * Returns what the last attempt returned, even a response that is not a success, or throws what it threw. The body of an earlier response is
 * discarded, so that its connection is free.
 */
declare function retry<Result, Signal extends AbortSignalLike = never>(task: (run: Run<Signal>) => Result | PromiseLike<Result>, policy: Policy, { sleep, now, random, retryOn, classify, signal, onAttempt }: RetryOptions<Result, Signal>): Promise<Result>;

/** A policy whose delays are listed. */
interface Schedule extends Policy {
    /** Milliseconds, each from one attempt to the next; n delays make n + 1 attempts. */
    readonly delays: readonly number[];
}
/**
 * Creates a policy from its delays: a list of durations, or text such as `30s, 2m, 10m`.
 *
 * `0s` is an immediate retry, and an empty list a single attempt. Jitter is `none` by default. Throws `RangeError`, which names the delay or the option.
 */
declare function schedule(delays: string | readonly (number | string)[], options?: PolicyOptions): Schedule;

export { classify, exponential, parseDuration, parseRetryAfter, retry, schedule };
export type { AbortSignalLike, Attempted, ClassifyOptions, Duration, EndedAttempt, ExponentialOptions, Next, Outcome, Policy, PolicyOptions, RetryAfterOptions, RetryOn, RetryOptions, Run, Schedule };
