import { ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { Effect } from "effect"
import { POLL, repeatWhenDue } from "../loops/retryForever.ts"

/** Executes replay jobs in chunks at their rates, until interrupted. */
export const replay = Effect.gen(function* () {
  const { replayNextChunk } = yield* ReplayJobQueue
  const step = Effect.gen(function* () {
    const result = yield* replayNextChunk
    // A due job that can't be claimed is being handled by another worker.
    if ("nextInMs" in result) return Math.max(result.nextInMs ?? Number.POSITIVE_INFINITY, POLL.minMs)
    const { id: replayId, state, total, replayed } = result.replay
    if (state === "finished") {
      yield* Effect.annotateLogs(Effect.logInfo("replay finished"), { replayId, total, replayed })
    }
    return 0
  })
  return yield* repeatWhenDue("replay", "replays", step)
})
