import { Context, type Effect, Schema } from "effect"
import type { OrganizationId } from "./Identifier.ts"
import type { Timestamp } from "./Timestamp.ts"

/** A timestamp in commit order; only `commitTimestamp` creates one. */
export type CommitTimestamp = Timestamp & { readonly CommitTimestamp: unique symbol }

/** The database rejected something in the transaction, and would reject it again. */
export class TransactionRejected extends Schema.TaggedError<TransactionRejected>()("TransactionRejected", {
  /** The kind of failure; nothing of what was written. */
  reason: Schema.String,
}) {}

/**
 * Opens transactions for use cases: all calls of ports inside share one, which commits when the effect succeeds and is rolled back when it
 * fails or is interrupted.
 */
export class Transaction extends Context.Service<
  Transaction,
  {
    /** Runs an effect in a transaction; inside another one, as a part of it that can fail alone. */
    run<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
    /** Like `run`, for use cases that go on when the database rejects the transaction. */
    attempt<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | TransactionRejected, R>
    /** Runs an effect again, twice a second and at most `times`, while the database fails for a reason that passes. */
    retryTransient<A, E, R>(effect: Effect.Effect<A, E, R>, times: number): Effect.Effect<A, E, R>
    /**
     * Advances an organization's clock; returns the timestamp for everything that the transaction writes.
     *
     * Timestamps of one organization commit in their own order. Call it as the last step, before the writes that carry it.
     */
    commitTimestamp(organizationId: OrganizationId): Effect.Effect<CommitTimestamp>
  }
>()("domain/Transaction") {}

/** Runs an effect in a transaction, as the last step of an `Effect.fn` that is one. */
export const inTransaction = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Transaction> =>
  Transaction.use(({ run }) => run(effect))
