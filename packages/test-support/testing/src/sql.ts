import type { OrganizationId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { Deferred, Effect, Fiber, Schedule } from "effect"
import { SqlClient, type SqlError, Statement } from "effect/sql"

/** A value in a statement. An effect isn't one, so that a statement inside another one doesn't compile. */
type Value =
  | (string | number | bigint | boolean | null | undefined | Uint8Array | ReadonlyArray<unknown>)
  | (Statement.Fragment | Statement.Identifier)

type Query<A> = Effect.Effect<A, SqlError.SqlError, SqlClient.SqlClient>

const run = <Row extends object>(strings: TemplateStringsArray, values: ReadonlyArray<Value>) =>
  SqlClient.SqlClient.use((client) => client<Row>(strings, ...values))

function tag<Row extends object = Record<string, unknown>>(
  strings: TemplateStringsArray,
  ...values: ReadonlyArray<Value>
): Query<ReadonlyArray<Row>>
function tag(name: string): Statement.Identifier
function tag(first: TemplateStringsArray | string, ...values: ReadonlyArray<Value>) {
  return typeof first === "string" ? Statement.identifier(first) : run(first, values)
}

/** Runs a statement of a test, and returns its rows. `sql(name)` is an identifier, and `sql.unsafe` runs a text. */
export const sql = Object.assign(tag, {
  literal: (text: string): Statement.Fragment => Statement.fragment([Statement.literal(text)]),
  unsafe: <Row extends object = Record<string, unknown>>(text: string): Query<ReadonlyArray<Row>> =>
    SqlClient.SqlClient.use((client) => client.unsafe<Row>(text)),
})

/** Creates a part of a statement. */
export const fragment = (strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Statement.Fragment =>
  Statement.fragment(
    strings.flatMap((text, i): ReadonlyArray<Statement.Segment> => {
      const each = values[i]
      const parts = Statement.isFragment(each) ? each.segments : [Statement.parameter(each)]
      return i < values.length ? [Statement.literal(text), ...parts] : [Statement.literal(text)]
    }),
  )

/** Runs a statement with one column, and returns its values. */
export const column = <A>(strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Query<ReadonlyArray<A>> =>
  Effect.map(run<Record<string, A>>(strings, values), (rows) => rows.flatMap((row) => Object.values(row)))

/** Runs a statement with one column and one row, and returns the value. */
export const value = <A>(strings: TemplateStringsArray, ...values: ReadonlyArray<Value>): Query<A> =>
  Effect.map(column<A>(strings, ...values), ([first]) => first as A)

export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  SqlClient.SqlClient.use((client) => client.withTransaction(effect))

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
