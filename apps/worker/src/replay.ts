import { ReplayBook } from "@outreach/domain/deliveries/ReplayBook"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

/** Carries out the jobs that replay dead letters, chunk by chunk at their rates, until interrupted. */
export const replay = Effect.gen(function* () {
  const { advance } = yield* ReplayBook
  const { shortestMs, longestMs } = workerLimits.pause
  const step = Effect.gen(function* () {
    const answer = yield* advance
    if ("nextInMs" in answer) {
      // What is due, and yet not ours, is in another worker's hands at this moment.
      return yield* Effect.sleep(Math.min(Math.max(answer.nextInMs ?? longestMs, shortestMs), longestMs))
    }
    const { id: replayId, state, total, replayed } = answer.replay
    if (state === "finished") {
      yield* Effect.logInfo("replay finished").pipe(Effect.annotateLogs({ replayId, total, replayed }))
    }
  })
  return yield* persist("replay", step)
})
