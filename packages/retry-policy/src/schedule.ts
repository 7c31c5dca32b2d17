import { parseDuration } from "./duration.ts"
import { createPolicy, type Policy, type PolicyOptions } from "./Policy.ts"

/** A policy with listed delays. */
export interface Schedule extends Policy {
  /** Milliseconds between attempts; n delays allow n + 1 attempts. */
  readonly delays: readonly number[]
}

/**
 * Creates a policy from its delays: a list of durations, or text such as `30s, 2m, 10m`.
 *
 * `0s` is an immediate retry; an empty list allows a single attempt. Jitter is `none` by default. Throws `RangeError` that names the delay or the option.
 */
export function schedule(delays: string | readonly (number | string)[], options: PolicyOptions = {}): Schedule {
  const listed = typeof delays === "string" ? delays.split(",") : delays
  const parsed = listed.map((delay, i) =>
    parseDuration(typeof delay === "string" ? delay.trim() : delay, `delay ${i + 1}`),
  )
  const policy = createPolicy(parsed.length + 1, (attempt) => parsed[attempt - 1]!, options)
  return { delays: parsed, ...policy }
}
