import { isTransient, transientFailure } from "@outreach/postgres/DatabaseFailure"
import { Cause, Effect } from "effect"
import { SqlError } from "effect/sql"

/** Runs a read-only effect once more after a transient failure of the database, such as a lost connection. */
export const retryOnce =
  (mayRetry = (): boolean => true) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.sandbox(effect).pipe(
      Effect.retry({ times: 1, while: (cause) => mayRetry() && hasTransientFailure(cause) }),
      Effect.catch(Effect.failCause),
    )

const hasTransientFailure = (cause: Cause.Cause<unknown>): boolean =>
  transientFailure(cause) !== undefined ||
  cause.reasons.some(
    (reason) => Cause.isFailReason(reason) && SqlError.isSqlError(reason.error) && isTransient(reason.error.reason),
  )
