import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { Effect } from "effect"

/** Applies a batch of each organization's events; returns whether anything was done. */
export const applyBatches = Effect.gen(function* () {
  const { organizations } = yield* InboxRepository
  const done = yield* Effect.forEach(yield* organizations, applyBatch)
  return done.some((count) => count > 0)
})
