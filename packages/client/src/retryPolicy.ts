import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import type { Retry } from "@outreach/error-catalog"
import { type Outcome, type Policy, schedule } from "@outreach/retry-policy"
import { ApiError, type ConnectionError } from "./ApiError.ts"

/**
 * Creates the client's retry policy.
 *
 * `delays` are the seconds before each retry, randomly reduced by up to a half. Doesn't retry if the wait would exceed
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

/** Classifies the error of an attempt; null is a success. */
export function classifyError(error: ApiError | ConnectionError | null): Outcome {
  if (error === null) return { verdict: "success", reason: "" }
  const verdict = retryOf(error) === "no" ? "permanent" : "transient"
  const retryAfter = error instanceof ApiError ? (error.retryAfter ?? 0) * 1000 : 0
  return { verdict, reason: error.name, retryAfter }
}

function retryOf(error: ApiError | ConnectionError): Retry {
  if (!(error instanceof ApiError)) return "backoff"
  // A successful response that isn't a page won't become one by retrying, unless a proxy sent it and it isn't JSON.
  if (error.status < 400 && error.cause === undefined) return "no"
  // Drafts don't become available by retrying.
  if (error.status === legacyCatalog.codes.NOT_IMPLEMENTED.status) return "no"
  return partnerCatalog.retry(error.type)
}
