import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { withdrawSuppressed } from "@outreach/domain/suppressions/Withdrawals"
import { Effect } from "effect"
import { repeatWithPauses } from "../loops/retryForever.ts"

/** Suppresses recipients who unsubscribed, and withdraws those that a bounce or a complaint suppressed, until interrupted. */
export const unsubscribe = Effect.all(
  [repeatWithPauses("unsubscribe", applyUnsubscriptions), repeatWithPauses("withdrawSuppressed", withdrawSuppressed)],
  { concurrency: "unbounded", discard: true },
)
