import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { withdrawSuppressed } from "@outreach/domain/suppressions/Withdrawals"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"

/** Suppresses recipients who unsubscribed, and withdraws those that a bounce or a complaint suppressed, until interrupted. */
export const unsubscribe = Effect.all(
  [
    retryForever("unsubscribe", untilIdle(applyUnsubscriptions)),
    retryForever("withdrawSuppressed", untilIdle(withdrawSuppressed)),
  ],
  { concurrency: "unbounded", discard: true },
)

function untilIdle<E, R>(apply: Effect.Effect<number, E, R>): Effect.Effect<void, E, R> {
  return Effect.flatMap(apply, (applied) => (applied > 0 ? Effect.void : Effect.sleep(workerLimits.pause.maxMs)))
}
