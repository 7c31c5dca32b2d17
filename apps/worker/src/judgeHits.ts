import { judgeHits as judgeSome } from "@outreach/domain/outreach/Hits"
import { Effect } from "effect"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

/** Judges hits and publishes them as opens and clicks, until interrupted. */
export const judgeHits = persist(
  "judgeHits",
  Effect.flatMap(judgeSome, (judged) => (judged > 0 ? Effect.void : Effect.sleep(workerLimits.pause.longestMs))),
)
