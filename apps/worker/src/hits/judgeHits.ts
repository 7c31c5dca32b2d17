import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { judgeHits as judgeSome } from "@outreach/domain/hits/Hits"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { takeTurns } from "../loops/takeTurns.ts"
import { workerLimits } from "../workerLimits.ts"

/** Judges hits and publishes them as opens and clicks, until interrupted. */
export const judgeHits = Effect.gen(function* () {
  const { waiting } = yield* HitRepository
  const step = takeTurns("judgeHits", waiting, judgeSome)
  return yield* retryForever(
    "judgeHits",
    Effect.flatMap(step, (judged) => (judged > 0 ? Effect.void : Effect.sleep(workerLimits.pause.maxMs))),
  )
})
