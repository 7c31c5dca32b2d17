import { HitRepository } from "@outreach/domain/hits/HitRepository"
import { judgeHits as judgeSome } from "@outreach/domain/hits/Hits"
import { Effect } from "effect"
import { processInTurns } from "../loops/processInTurns.ts"
import { repeatWithPauses } from "../loops/retryForever.ts"

/** Classifies hits and publishes them as opens and clicks, until interrupted. */
export const judgeHits = Effect.flatMap(HitRepository, ({ waiting }) =>
  repeatWithPauses("judgeHits", processInTurns("judgeHits", waiting, judgeSome)),
)
