import { type OperationId, operations } from "@outreach/contract"
import { KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { decideCount, fixedWindow, type RateLimitDecision, rateLimitHeaders } from "@outreach/rate-limit"

/** What is known of a request so far, as far as its answer depends on it. */
export interface ResponseContext {
  readonly requestId: string
  readonly operation: OperationId | undefined
  readonly envelope: "partner" | "legacy"
  /** The caller's window; undefined while nobody was charged. */
  readonly window: RateLimitDecision | undefined
}

/** How many requests each key may make in a clock minute. */
export const KEY_POLICY = fixedWindow({ limit: KEY_REQUESTS_PER_MINUTE })

/**
 * The headers of every error response; a caller who was not counted sees an untouched window. `now` is in Unix seconds.
 *
 * The health check and the receiver of webhooks have no rate window, so their errors show none.
 */
export const errorHeaders = (
  { requestId, operation, window }: ResponseContext,
  now: number,
): Readonly<Record<string, string>> => ({
  ...((operation === undefined || isCounted(operation)) &&
    rateLimitHeaders(window ?? decideCount(KEY_POLICY, 0, now * 1000), "x")),
  "X-Request-Id": requestId,
})

const isCounted = (operation: OperationId): boolean => {
  const { kind } = operations[operation].auth
  return kind === "bearer" || kind === "scope"
}
