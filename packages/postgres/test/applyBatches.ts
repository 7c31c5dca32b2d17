import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxApplier } from "@outreach/domain/inbox/InboxApplier"
import { Effect } from "effect"

/** Applies a batch of each organization's events; returns whether anything was done. */
export const applyBatches = Effect.gen(function* () {
  const { organizations } = yield* InboxApplier
  const done = yield* Effect.forEach(yield* organizations, applyBatch)
  return done.some((count) => count > 0)
})
