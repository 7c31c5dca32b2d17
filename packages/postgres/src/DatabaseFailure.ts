import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { Cause, Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"

/**
 * The database failed at an operation of an adapter; a defect to the domain.
 *
 * It keeps the code of the failure and nothing of the server's own words, which may hold a row's e-mail address or NPI.
 */
export class DatabaseFailure extends Schema.TaggedError<DatabaseFailure>()("DatabaseFailure", {
  operation: Schema.String,
  /** A SQLSTATE or another code of `describeDatabaseError`. */
  reason: Schema.String,
  /** Whether the same operation may succeed later: the connection, a right, a lock or a time limit failed, not the statement. */
  transient: Schema.Boolean,
}) {
  override get message(): string {
    return `${this.operation} failed in the database: ${this.reason}`
  }
}

/** Turns failures of the database into a defect that names the operation. */
export const orDieAs =
  (operation: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | SqlError.SqlError, R>): Effect.Effect<A, Exclude<E, SqlError.SqlError>, R> =>
    Effect.catchIf(
      effect,
      (error): error is SqlError.SqlError & E => (error as { _tag?: unknown })._tag === "SqlError",
      ({ reason }) =>
        Effect.die(
          new DatabaseFailure({
            operation,
            reason: describeDatabaseError(reason).code,
            transient: isTransient(reason),
          }),
        ),
    ) as Effect.Effect<A, Exclude<E, SqlError.SqlError>, R>

/** Returns the failure of the database for which the same may succeed later; undefined if a cause holds none. */
export const transientFailure = (cause: Cause.Cause<unknown>): DatabaseFailure | undefined => {
  const defects = cause.reasons.filter(Cause.isDieReason).map(({ defect }) => defect)
  return defects.find((defect): defect is DatabaseFailure => defect instanceof DatabaseFailure && defect.transient)
}

/**
 * Reports whether the same statement may succeed later. What may is kept and tried again, so nothing is given up for a fault that an operator mends.
 *
 * The driver does not know it of these: the server takes no writes (25006), has another schema or role than when the statement was planned (0A000),
 * refuses the connection (class 28, 3D000) or the role (42501), is short of something (class 53), shutting down or starting (57P01 to 57P05).
 */
export const isTransient = ({ isRetryable, cause }: SqlError.SqlErrorReason): boolean =>
  isRetryable ||
  /^(?:0A000|25006|28...|3D000|42501|53...|57P0.)$/.test(String((cause as { code?: unknown } | undefined)?.code))
