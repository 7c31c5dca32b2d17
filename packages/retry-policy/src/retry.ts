import { classify as classifyHttp, type Outcome, type RetryOn } from "./classify.ts"
import type { Next, Policy } from "./Policy.ts"

/** As much of an `AbortSignal` as is needed. */
export interface AbortSignalLike {
  readonly throwIfAborted: () => void
  readonly addEventListener: (type: "abort", listener: () => void) => void
  readonly removeEventListener: (type: "abort", listener: () => void) => void
}

/** What a task is handed. */
export interface Run<Signal> {
  /** The number of the attempt, from 1. */
  readonly attempt: number
  /** The caller's signal, to hand on; null where there is none. */
  readonly signal: Signal | null
}

/** An attempt that has ended, and what follows. */
export interface Attempted<Result> {
  readonly attempt: number
  readonly outcome: Outcome
  readonly next: Next
  /** What the task returned; undefined where it threw. */
  readonly result?: Result | undefined
  /** What the task threw. */
  readonly error?: unknown
}

/** The options of `retry`. */
export interface RetryOptions<Result, Signal extends AbortSignalLike> {
  /** Waits. It may clear its timer when the signal aborts; `retry` ends immediately in either case. */
  readonly sleep: (milliseconds: number, signal: Signal | undefined) => PromiseLike<unknown>
  /** The present in Unix milliseconds, such as `Date.now`. */
  readonly now: () => number
  /** Uniform in [0, 1), such as `Math.random`. A policy with jitter needs it. */
  readonly random?: (() => number) | undefined
  /** What is worth another attempt. Default `["5xx", "network"]`: 408, 425 and 429 are yours to add. */
  readonly retryOn?: readonly RetryOn[] | undefined
  /** Judges what the task returned or threw, in the place of `classify` with `retryOn`. */
  readonly classify?: ((settled: unknown) => Outcome) | undefined
  /** Ends a wait, and begins no further attempt: `retry` rejects with its reason. */
  readonly signal?: Signal | undefined
  /** Called after each attempt, and waited for, such as for a log. What it throws ends `retry`. */
  readonly onAttempt?: ((attempted: Attempted<Result>) => unknown) | undefined
}

/** The longest that a timer takes, some 24 days; one that is set to more ends immediately. */
const MAX_TIMER = 2 ** 31 - 1

/**
 * Runs a task until it succeeds, or its policy has no further attempt.
 *
 * Returns what the last attempt returned, even a response that is not a success, or throws what it threw. The body of an earlier response is
 * discarded, so that its connection is free.
 */
export async function retry<Result, Signal extends AbortSignalLike = never>(
  task: (run: Run<Signal>) => Result | PromiseLike<Result>,
  policy: Policy,
  { sleep, now, random, retryOn, classify, signal, onAttempt }: RetryOptions<Result, Signal>,
): Promise<Result> {
  let last = now()
  let elapsed = 0
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    let result: Result | undefined
    let thrown: { readonly error: unknown } | undefined
    try {
      result = await task({ attempt, signal: signal ?? null })
    } catch (error) {
      thrown = { error }
    }
    const settled = thrown ? thrown.error : result
    let outcome = classify ? classify(settled) : classifyHttp(settled, { retryOn, now })
    // What is thrown need not be an error.
    if (thrown && outcome.verdict === "success") outcome = { verdict: "permanent", reason: "thrown" }
    // After a success nobody asks for the time.
    if (outcome.verdict !== "success") {
      const at = now()
      // A clock that is set back puts off the deadline by no more than this attempt.
      elapsed += Math.max(0, at - last)
      last = at
    }
    const next = policy.next({ attempt, outcome, elapsed, random })
    if (onAttempt) await onAttempt({ attempt, outcome, next, result, ...thrown })
    if (!next.retry) {
      if (thrown) throw thrown.error
      return result as Result
    }
    discardBody(result).catch(() => {})
    for (let left = next.delay; left >= 0; left -= MAX_TIMER) {
      signal?.throwIfAborted()
      await endedBy(signal, sleep(Math.min(left, MAX_TIMER), signal))
    }
  }
}

/** Waits for a promise, unless a signal aborts first: then it rejects with the signal's reason. */
function endedBy(signal: AbortSignalLike | undefined, waited: PromiseLike<unknown>): Promise<unknown> {
  let stop = (): void => {}
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
    signal?.addEventListener("abort", stop)
  })
  return Promise.race([waited, aborted]).finally(() => {
    signal?.removeEventListener("abort", stop)
    signal?.throwIfAborted()
  })
}

/** Cancels the body of fetch, reads a short rest of undici's, or destroys Node's. */
async function discardBody(result: unknown): Promise<void> {
  const { body = result } = Object(result)
  await (body?.cancel ?? body?.dump ?? body?.destroy)?.call(body)
}
