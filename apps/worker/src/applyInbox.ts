import { applyBatches } from "@outreach/domain/inbox/applyBatches"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

const { shortestMs, longestMs } = workerLimits.pause

/** Applies what partners sent, batch by batch, until interrupted. */
export const applyInbox = Effect.suspend(() => {
  let pause: number = shortestMs
  const step = Effect.gen(function* () {
    if (yield* applyBatches) {
      pause = shortestMs
      return
    }
    yield* Effect.sleep(pause)
    pause = Math.min(pause * 2, longestMs)
  })
  return persist("applyInbox", step)
})
