import { legacyCodes, partnerCatalog, type Retryability } from "@outreach/error-catalog"
import { nextAttempt, type Schedule } from "@outreach/retry-policy"
import { ApiError, type ConnectionError } from "./ApiError.ts"

/** How often and how soon a request is repeated. */
export interface RetryOptions {
  /** Seconds before each repeat; n delays make n + 1 attempts, an empty list never repeats. */
  readonly delays: Schedule
  /** The most seconds that one wait may take; an error that asks for more is thrown. */
  readonly longestWait: number
  /** Uniform in [0, 1): spreads the delays, from a half to the whole of each. */
  readonly random: () => number
}

/** Returns the seconds to wait before the next attempt, or undefined when there is none. */
export function waitBefore(
  error: ApiError | ConnectionError,
  attempt: number,
  { delays, longestWait, random }: RetryOptions,
): number | undefined {
  const verdict = retryability(error) === "no" ? "permanent" : "transient"
  const next = nextAttempt(delays, attempt, { verdict }, 0)
  if (next.state !== "retry") return undefined
  const backoff = next.delay * (0.5 + random() / 2)
  // Added, so that those who were told the same second do not come back in the same millisecond.
  const wait = ((error instanceof ApiError && error.retryAfter) || 0) + backoff
  return wait > longestWait ? undefined : wait
}

function retryability(error: ApiError | ConnectionError): Retryability {
  if (!(error instanceof ApiError)) return "backoff"
  // A success that is not a page will not be one in a second, unless something in between answered, and not in JSON.
  if (error.status < 400 && error.cause === undefined) return "no"
  // A draft that is not served will not be served in a minute.
  if (error.status === legacyCodes.NOT_IMPLEMENTED.status) return "no"
  return partnerCatalog.retryability(error.type)
}
