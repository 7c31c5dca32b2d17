import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import type { Retry } from "@outreach/error-catalog"
import { type Outcome, type Policy, schedule } from "@outreach/retry-policy"
import { ApiError, type ConnectionError } from "./ApiError.ts"

/**
 * Creates the policy of a client.
 *
 * `delays` are the seconds before each repeat, of which chance leaves a half to the whole. There is no repeat that would wait more than
 * `longestWait` seconds.
 */
export function retryPolicy(delays: readonly number[], longestWait: number): Policy {
  const milliseconds = delays.map((seconds) => seconds * 1000)
  const policy = schedule(milliseconds, { jitter: "equal", maxRetryAfter: "366d" })
  return {
    next: (ended) => {
      const next = policy.next(ended)
      return next.retry && next.delay > longestWait * 1000 ? { retry: false, because: "deadline" } : next
    },
  }
}

/** Judges the error of an attempt; null is a success. */
export function classifyError(error: ApiError | ConnectionError | null): Outcome {
  if (error === null) return { verdict: "success", reason: "" }
  const verdict = retryOf(error) === "no" ? "permanent" : "transient"
  const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
  return { verdict, reason: error.name, retryAfter }
}

function retryOf(error: ApiError | ConnectionError): Retry {
  if (!(error instanceof ApiError)) return "backoff"
  // A success that is not a page will not be one in a second, unless something in between answered, and not in JSON.
  if (error.status < 400 && error.cause === undefined) return "no"
  // A draft that is not served will not be served in a minute.
  if (error.status === legacyCatalog.codes.NOT_IMPLEMENTED.status) return "no"
  return partnerCatalog.retry(error.type)
}
