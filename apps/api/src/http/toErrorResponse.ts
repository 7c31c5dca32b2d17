import { type OperationId, operations } from "@outreach/contract"
import {
  type LegacyErrorCode,
  legacyCatalog,
  type PartnerCatalog,
  type PartnerErrorCode,
} from "@outreach/contract/catalogs"
import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import type { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { describeCause } from "@outreach/process/describeCause"
import { decideCount, type RateLimitDecision, rateLimitHeaders } from "@outreach/rate-limit"
import { Cause, Effect } from "effect"
import { KEY_POLICY } from "./authenticateKey.ts"
import type { OperationResponse } from "./encode.ts"
import { RequestError } from "./RequestError.ts"

/** Request data that the response depends on. */
export interface ResponseContext {
  readonly requestId: string
  readonly operation: OperationId | undefined
  readonly envelope: "partner" | "legacy"
  /** The caller's rate window; undefined until it is counted. */
  readonly window: RateLimitDecision | undefined
}

/** Returns an error in its operation's envelope. Uncounted callers see an unused rate window. `now` is in Unix seconds. */
export function toErrorResponse(
  { code, message, details, headers, status, ...error }: RequestError,
  { requestId, operation, envelope, window }: ResponseContext,
  catalog: PartnerCatalog,
  now: number,
): OperationResponse {
  const all = {
    ...(isCounted(operation) && rateLimitHeaders(window ?? decideCount(KEY_POLICY, 0, now * 1000), "x")),
    "X-Request-Id": requestId,
    ...headers,
  }
  if (envelope === "legacy") {
    const legacy = error.legacy ?? (isLegacy(code) ? code : "INTERNAL_ERROR")
    const body = legacyCatalog.body(legacy as "INTERNAL_ERROR", { message })
    return { status: legacyCatalog.codes[legacy].status, body, headers: all }
  }
  // The union of all codes would require the details of each.
  const body = catalog.body(code as "INTERNAL_ERROR", { message, details, requestId })
  return { status: status ?? catalog.codes[code].status, body, headers: all }
}

/** Returns whether requests have a rate window: all except the health check and the webhook receiver. */
const isCounted = (operation: OperationId | undefined): boolean =>
  operation === undefined || ["bearer", "scope"].includes(operations[operation].auth.kind)

const isLegacy = (code: PartnerErrorCode): code is PartnerErrorCode & LegacyErrorCode => code in legacyCatalog.codes

/**
 * Returns the error of a failed request.
 *
 * Unexpected errors are logged with the request id, and not shown. Database outages are logged in bulk.
 */
export const errorOf = Effect.fnUntraced(function* (
  cause: Cause.Cause<RequestError>,
  { requestId, operation }: ResponseContext,
  unavailable: UnavailableLog["Service"],
) {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  if (error !== undefined) return error
  const failure = transientFailure(cause)
  if (failure !== undefined) {
    yield* unavailable.count(failure, requestId)
    return RequestError.Unavailable
  }
  yield* Effect.logError("unhandled error in request").pipe(
    Effect.annotateLogs({ requestId, operation: operation ?? "none", errors: describeCause(cause) }),
  )
  return RequestError.Defect
})
