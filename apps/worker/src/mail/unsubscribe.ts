import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"

/** Suppresses who asked to be written to no more, until interrupted. */
export const unsubscribe = retryForever(
  "unsubscribe",
  Effect.flatMap(applyUnsubscriptions, (applied) =>
    applied > 0 ? Effect.void : Effect.sleep(workerLimits.pause.maxMs),
  ),
)
