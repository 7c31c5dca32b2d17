declare const NETWORK_FAILURES: readonly ["refused", "reset", "unresolved_name", "name_not_asked", "tls", "connect_timeout", "headers_timeout", "body_timeout", "deadline", "blocked_address", "unknown"];
/**
 * Why no complete reply came.
 *
 * `name_not_asked`: the name had no turn to be resolved, which says nothing of the receiver; `deadline`: the time for the whole attempt ran out; `blocked_address`: the name leads where calls may not go;
 * `unknown`: any other failure of the network.
 */
type NetworkFailure = (typeof NETWORK_FAILURES)[number];
/** What an attempt met: the status of a complete reply, or a failure of the network. */
type Reply = {
    readonly status: number;
} | {
    readonly error: NetworkFailure;
};
/** Whether the attempt succeeded, failed for good, or failed for now. */
type Verdict = "delivered" | "permanent" | "transient";
/** Why the verdict is what it is: the class of the status, or the failure of the network. */
type Reason = "success" | "client_error" | "informational" | "redirect" | "server_error" | "invalid_status" | NetworkFailure;
/** The verdict on one attempt. */
interface Outcome {
    readonly verdict: Verdict;
    readonly reason: Reason;
}
/**
 * Judges what an attempt met: 2xx is delivered, every 4xx permanent, all else transient.
 *
 * An error outweighs a status beside it, since the reply never ended; an error of another name is `unknown`, and a status
 * that is not an integer in 100–599 is `invalid_status`. Source: Outreach Partner API specification, Events, Delivery rules, 4.
 */
declare function classify(reply: Reply): Outcome;

/** Delays in seconds, each from one attempt to the next: the first stands before attempt 2. */
type Schedule = readonly number[];
/** The schedule of webhook deliveries, 7 attempts. Source: Outreach Partner API specification, Events, Delivery rules, 4. */
declare const SPECIFIED_SCHEDULE: Schedule;
/**
 * Reads a schedule such as `30s,2m,10m,1h,6h,24h`: 1–20 delays, each a whole number and a unit of s, m, h or d, at most 7 days.
 *
 * Spaces around a delay are allowed, and `0s` is a retry at once. Throws `RangeError`, which names the bad part.
 */
declare function parseSchedule(text: string): Schedule;
/** Writes a schedule as text that `parseSchedule` reads back, each delay in the largest unit that divides it. Throws `RangeError` on a schedule that `parseSchedule` could not return. */
declare function formatSchedule(schedule: Schedule): string;

/** What follows an attempt. */
type NextAttempt = {
    readonly state: "done";
} | {
    readonly state: "retry";
    /** Seconds from `now` to the next attempt, for a caller whose own clock, or database, says when that is. */
    readonly delay: number;
    /** Unix seconds of the next attempt: `now` plus the delay. */
    readonly at: number;
} | {
    readonly state: "dead_letter";
    /** `rejected`: the receiver refused for good; `exhausted`: the schedule has no further attempt. */
    readonly reason: "rejected" | "exhausted";
};
/**
 * Returns what follows attempt number `attempt`, counted from 1, that ended with `outcome` at `now`, in Unix seconds (fractions allowed).
 *
 * A schedule of n delays allows n + 1 attempts; an attempt beyond them, as after the schedule was shortened, is exhausted too. Throws
 * `RangeError` on an attempt, a time or a delay that is not such a number.
 */
declare function nextAttempt(schedule: Schedule, attempt: number, outcome: Pick<Outcome, "verdict">, now: number): NextAttempt;

export { SPECIFIED_SCHEDULE, classify, formatSchedule, nextAttempt, parseSchedule };
export type { NetworkFailure, NextAttempt, Outcome, Reason, Reply, Schedule, Verdict };
