import { classify as classifyHttp, type Outcome, type RetryOn } from "./classify.ts"
import { exponential } from "./exponential.ts"
import type { Next, Policy } from "./Policy.ts"
import { isStop } from "./stop.ts"

/** The subset of `AbortSignal` that `retry` uses. */
export interface AbortSignalLike {
  readonly aborted: boolean
  readonly throwIfAborted: () => void
  readonly addEventListener: (type: "abort", listener: () => void) => void
  readonly removeEventListener: (type: "abort", listener: () => void) => void
}

/** Argument of a task. */
export interface Run<Signal> {
  /** Attempt number, starting at 1. */
  readonly attempt: number
  /** The caller's signal, to pass on; null without one. */
  readonly signal: Signal | null
}

/** A finished attempt and the decision about the next. */
export interface Attempted<Result> {
  readonly attempt: number
  readonly outcome: Outcome
  readonly next: Next
  /** The task's result; undefined if it threw. */
  readonly result?: Result | undefined
  /** The error that the task threw, or passed to `stop`. */
  readonly error?: unknown
}

/** Options of `retry`. */
export interface RetryOptions<Result, Signal extends AbortSignalLike> {
  /** Waits. May clear its timer when the signal aborts; `retry` rejects immediately in either case. Default: a timer. */
  readonly sleep?: ((milliseconds: number, signal: Signal | undefined) => PromiseLike<unknown>) | undefined
  /** Current Unix time in milliseconds. Default `Date.now`. */
  readonly now?: (() => number) | undefined
  /** Uniform in [0, 1). Default `Math.random`. */
  readonly random?: (() => number) | undefined
  /** Retryable failures. Default `["5xx", "network"]`; 408, 425 and 429 are opt-in. */
  readonly retryOn?: readonly RetryOn[] | undefined
  /** Classifies the task's result or error, instead of `classify` with `retryOn`. */
  readonly classify?: ((settled: unknown) => Outcome) | undefined
  /** Stops waiting and starts no further attempt: `retry` rejects with the signal's reason, unless the running attempt succeeds. */
  readonly signal?: Signal | undefined
  /** Called and awaited after each attempt, for example for logging. If it throws, `retry` rejects with that error. */
  readonly onAttempt?: ((attempted: Attempted<Result>) => unknown) | undefined
}

/** Maximum delay of a timer, about 24 days. Timers with a longer delay fire immediately. */
const MAX_TIMER = 2 ** 31 - 1

/**
 * Runs a task until it succeeds, throws `stop(error)`, or the policy allows no further attempt.
 *
 * The default policy is `exponential({ deadline: "1m" })`: 6 attempts within a minute, with random waits of up to 0.2, 0.4, 0.8, 1.6 and 3.2 seconds.
 *
 * Returns the last attempt's result, even if it is an unsuccessful response, or throws its error. Bodies of earlier responses are
 * discarded to free their connections.
 */
export async function retry<Result, Signal extends AbortSignalLike = never>(
  task: (run: Run<Signal>) => Result | PromiseLike<Result>,
  policy: Policy = exponential({ deadline: "1m" }),
  options: RetryOptions<Result, Signal> = {},
): Promise<Result> {
  const { now = Date.now, random = Math.random, retryOn, classify, signal, onAttempt } = options
  let last = now()
  let elapsed = 0
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted()
    let result: Result | undefined
    let thrown: { readonly error: unknown } | undefined
    let settled: unknown
    try {
      settled = result = await task({ attempt, signal: signal ?? null })
    } catch (error) {
      settled = error
      thrown = { error: isStop(error) ? error.cause : error }
    }
    let outcome = classify && !isStop(settled) ? classify(settled) : classifyHttp(settled, { retryOn, now })
    // Thrown values aren't always errors.
    if (thrown && outcome.verdict === "success") outcome = { verdict: "permanent", reason: "thrown" }
    // A success doesn't need the time.
    if (outcome.verdict !== "success") {
      const at = now()
      // If the clock is set back, the deadline moves by at most this attempt's duration.
      elapsed += Math.max(0, at - last)
      last = at
    }
    const next = policy.next({ attempt, outcome, elapsed, random })
    if (onAttempt) await onAttempt({ attempt, outcome, next, result, ...thrown })
    if (!next.retry && !(signal?.aborted && outcome.verdict !== "success")) {
      if (thrown) throw thrown.error
      return result as Result
    }
    discardBody(result).catch(() => {})
    for (let left = next.retry ? next.delay : 0; left >= 0; left -= MAX_TIMER) {
      signal?.throwIfAborted()
      await wait(Math.min(left, MAX_TIMER), options)
    }
  }
}

/** Waits. Rejects with the signal's reason if it aborts first. */
function wait<Signal extends AbortSignalLike>(
  milliseconds: number,
  { sleep, signal }: Pick<RetryOptions<unknown, Signal>, "sleep" | "signal">,
): Promise<unknown> {
  let stop = (): void => {}
  let timer: unknown
  const waited = sleep
    ? sleep(milliseconds, signal)
    : new Promise((resolve) => (timer = setTimeout(resolve, milliseconds)))
  const aborted = new Promise<void>((resolve) => {
    stop = resolve
    signal?.addEventListener("abort", stop)
  })
  return Promise.race([waited, aborted]).finally(() => {
    clearTimeout(timer as never)
    signal?.removeEventListener("abort", stop)
    signal?.throwIfAborted()
  })
}

/** Cancels a fetch body, reads a short rest of an undici body, or destroys a Node body. */
async function discardBody(result: unknown): Promise<void> {
  const { body = result } = Object(result)
  await (body?.cancel ?? body?.dump ?? body?.destroy)?.call(body)
}
