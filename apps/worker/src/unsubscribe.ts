import { applyUnsubscriptions } from "@outreach/domain/outreach/Unsubscriptions"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

/** Suppresses who asked to be written to no more, until interrupted. */
export const unsubscribe = persist(
  "unsubscribe",
  Effect.flatMap(applyUnsubscriptions, (applied) =>
    applied > 0 ? Effect.void : Effect.sleep(workerLimits.pause.longestMs),
  ),
)
