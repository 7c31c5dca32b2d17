import { Context, type Effect } from "effect"

/**
 * Opens transactions for use cases: all calls of ports inside share one, which commits when the effect succeeds and is rolled back when it
 * fails or is interrupted.
 */
export class Transaction extends Context.Service<
  Transaction,
  {
    /** Runs an effect in a transaction; inside another one, as a part of it that can fail alone. */
    run<A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R>
  }
>()("domain/Transaction") {}
