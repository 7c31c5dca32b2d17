import { ReplayJobQueue } from "@outreach/domain/deliveries/Replays"
import { Effect } from "effect"
import { POLL, retryForever } from "../loops/retryForever.ts"

/** Executes replay jobs in chunks at their rates, until interrupted. */
export const replay = Effect.gen(function* () {
  const { replayNextChunk } = yield* ReplayJobQueue
  const step = Effect.gen(function* () {
    const result = yield* replayNextChunk
    if ("nextInMs" in result) {
      // A due job that can't be claimed is being handled by another worker.
      return yield* Effect.sleep(Math.min(Math.max(result.nextInMs ?? POLL.maxMs, POLL.minMs), POLL.maxMs))
    }
    const { id: replayId, state, total, replayed } = result.replay
    if (state === "finished") {
      yield* Effect.annotateLogs(Effect.logInfo("replay finished"), { replayId, total, replayed })
    }
  })
  return yield* retryForever("replay", step)
})
