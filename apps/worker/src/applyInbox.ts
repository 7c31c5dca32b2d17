import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxApplier } from "@outreach/domain/inbox/InboxApplier"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { takeTurns } from "./takeTurns.ts"
import { workerLimits } from "./workerLimits.ts"

const { shortestMs, longestMs } = workerLimits.pause

/** Applies what partners sent, batch by batch, until interrupted. */
export const applyInbox = Effect.gen(function* () {
  const { organizations } = yield* InboxApplier
  const applySome = takeTurns("applyInbox", organizations, applyBatch)
  let pause: number = shortestMs
  const step = Effect.gen(function* () {
    if ((yield* applySome) > 0) {
      pause = shortestMs
      return
    }
    yield* Effect.sleep(pause)
    pause = Math.min(pause * 2, longestMs)
  })
  return yield* persist("applyInbox", step)
})
