import { type OperationId, operations } from "@outreach/contract"
import { KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { decideCount, fixedWindow, type RateLimitDecision, rateLimitHeaders } from "@outreach/rate-limit"

/** Request data that the response depends on. */
export interface ResponseContext {
  readonly requestId: string
  readonly operation: OperationId | undefined
  readonly envelope: "partner" | "legacy"
  /** The caller's rate window; undefined until it is counted. */
  readonly window: RateLimitDecision | undefined
}

/** Requests per key and clock minute. */
export const KEY_POLICY = fixedWindow({ limit: KEY_REQUESTS_PER_MINUTE })

/**
 * Headers of every error response. Uncounted callers see an unused window. `now` is in Unix seconds.
 *
 * The health check and the webhook receiver have no rate window.
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
