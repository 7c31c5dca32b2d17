import { Context, type Effect, Schema } from "effect"
import type { OrganizationId } from "./Identifier.ts"
import type { Timestamp } from "./Timestamp.ts"

/** A timestamp in commit order, created only by `commitTimestamp`. */
export type CommitTimestamp = Timestamp & { readonly CommitTimestamp: unique symbol }

/** The database rejected the transaction, and would reject it again. */
export class TransactionRejected extends Schema.TaggedError<TransactionRejected>()("TransactionRejected", {
  /** Kind of failure, without the written data. */
  reason: Schema.String,
}) {}

/**
 * Opens transactions for use cases: all port calls inside share one, which commits when the effect succeeds and is rolled back when it
 * fails or is interrupted.
 */
export class Transaction extends Context.Service<
  Transaction,
  {
    /** Runs an effect in a transaction; inside another one, as a savepoint that can fail separately. */
    run<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
    /** Like `run`, for use cases that continue when the database rejects the transaction. */
    attempt<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TransactionRejected, R>
    /** Repeats an effect twice a second, at most `times` times, while the database fails temporarily. */
    retryTransient<A, E, R>(effect: Effect.Effect<A, E, R>, times: number): Effect.Effect<A, E, R>
    /**
     * Advances an organization's clock. Returns the timestamp of everything that the transaction writes.
     *
     * An organization's timestamps commit in order. Call it last, before the writes that use it.
     */
    commitTimestamp(organizationId: OrganizationId): Effect.Effect<CommitTimestamp>
  }
>()("domain/Transaction") {}

/** Runs an effect in a transaction; for use at the end of an `Effect.fn`. */
export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Transaction> =>
  Transaction.use(({ run }) => run(effect))

/** Rows of a list in order of commit timestamps. */
export interface ListPage<Row> {
  readonly rows: ReadonlyArray<Row>
  /**
   * Whether all following rows have later timestamps than the time of reading. True for a full page; false if a transaction
   * already has a timestamp and hasn't ended within a second.
   */
  readonly isSettled: boolean
}
