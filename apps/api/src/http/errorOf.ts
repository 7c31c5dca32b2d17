import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import type { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { describeCause } from "@outreach/process/describeCause"
import { Cause, Effect } from "effect"
import { RequestError } from "./RequestError.ts"
import type { ResponseContext } from "./toErrorResponse.ts"

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
