import { HitLedger } from "@outreach/domain/outreach/HitLedger"
import { judgeHits as judgeSome } from "@outreach/domain/outreach/Hits"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { takeTurns } from "./takeTurns.ts"
import { workerLimits } from "./workerLimits.ts"

/** Judges hits and publishes them as opens and clicks, until interrupted. */
export const judgeHits = Effect.gen(function* () {
  const { waiting } = yield* HitLedger
  const step = takeTurns("judgeHits", waiting, judgeSome)
  return yield* persist(
    "judgeHits",
    Effect.flatMap(step, (judged) => (judged > 0 ? Effect.void : Effect.sleep(workerLimits.pause.longestMs))),
  )
})
