import { describeDatabaseError } from "@outreach/postgres-connection/describeDatabaseError"
import { Cause, Effect, Schema } from "effect"
import type { SqlError } from "effect/sql"

/**
 * A failure of the database in an adapter; a defect for the domain.
 *
 * It keeps the failure's code but not the server's message, which may contain a row's e-mail address or NPI.
 */
export class DatabaseFailure extends Schema.TaggedError<DatabaseFailure>()("DatabaseFailure", {
  operation: Schema.String,
  /** A SQLSTATE or another code of `describeDatabaseError`. */
  reason: Schema.String,
  /** True if a retry may succeed, because a connection, a permission, a lock or a time limit failed and not the statement. */
  transient: Schema.Boolean,
}) {
  override get message(): string {
    return `${this.operation} failed in the database: ${this.reason}`
  }
}

/** Turns database failures into a defect that names the operation. */
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

/** Returns the database failure of a cause after which a retry may succeed, if there is one. */
export const transientFailure = (cause: Cause.Cause<unknown>): DatabaseFailure | undefined => {
  const defects = cause.reasons.filter(Cause.isDieReason).map(({ defect }) => defect)
  return defects.find((defect): defect is DatabaseFailure => defect instanceof DatabaseFailure && defect.transient)
}

/**
 * Reports whether the same statement may succeed later. Such work is kept and retried until an operator repairs the fault.
 *
 * The driver doesn't classify these as transient: the server is read-only (25006), the schema or role changed since the statement was planned (0A000),
 * the server rejects the connection (class 28, 3D000) or the role (42501), is short of resources (class 53), is shutting down or starting (57P01 to 57P05).
 */
export const isTransient = ({ isRetryable, cause }: SqlError.SqlErrorReason): boolean =>
  isRetryable ||
  /^(?:0A000|25006|28...|3D000|42501|53...|57P0.)$/.test(String((cause as { code?: unknown } | undefined)?.code))
