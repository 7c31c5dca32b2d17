import type { OrganizationId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { sql } from "./sql.ts"

export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.withTransaction(effect))

/** Runs an effect in a transaction with the timestamp of everything that it writes. */
export const withTimestamp = <A, E, R>(
  organizationId: OrganizationId,
  write: (at: CommitTimestamp) => Effect.Effect<A, E, R>,
) => inTransaction(Effect.flatMap(commitTimestamp(organizationId), write))

/** Runs `during` while a transaction that ran `first` is open, then commits it. */
export const whileOpen = Effect.fnUntraced(function* <A, E1, R1, B, E2, R2>(
  first: Effect.Effect<A, E1, R1>,
  during: (result: A) => Effect.Effect<B, E2, R2>,
) {
  const done = yield* Deferred.make<A, E1>()
  const over = yield* Deferred.make<void>()
  // On a busy machine it can be open for longer than the service allows its transactions.
  const stayOpen = sql`set local idle_in_transaction_session_timeout = 0`
  const holder = yield* Effect.forkChild(
    inTransaction(Effect.all([stayOpen, Deferred.into(first, done), Deferred.await(over)])),
  )
  const result = yield* Effect.flatMap(Deferred.await(done), during).pipe(
    Effect.ensuring(Deferred.succeed(over, undefined)),
  )
  yield* Fiber.join(holder)
  return result
})

/** Waits until a number of statements in the test's database are blocked by locks. */
export const untilBlocked = (count = 1) =>
  sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.pipe(
    Effect.repeat({ until: ({ length }) => length >= count, schedule: Schedule.spaced("10 millis") }),
  )
