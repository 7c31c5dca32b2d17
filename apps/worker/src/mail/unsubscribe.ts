import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { withdrawSuppressed } from "@outreach/domain/suppressions/Withdrawals"
import { Effect } from "effect"
import { repeatWithPauses } from "../loops/retryForever.ts"

/** Suppresses recipients who unsubscribed, and withdraws recipients suppressed by a bounce or a complaint, until interrupted. */
export const unsubscribe = Effect.all(
  [repeatWithPauses("unsubscribe", applyUnsubscriptions), repeatWithPauses("withdrawSuppressed", withdrawSuppressed)],
  { concurrency: "unbounded", discard: true },
)
