import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { withRest } from "../loops/withRest.ts"

/** Adds to the counts of campaigns what has changed, and counts campaigns from before there were counts, until interrupted. */
export const countCampaigns = Effect.gen(function* () {
  const counts = yield* CampaignCounts
  const countAll = Effect.gen(function* () {
    while ((yield* withRest(counts.countNext)) !== undefined) {}
  })
  return yield* Effect.all(
    [
      retryForever("foldCampaignCounts", Effect.andThen(counts.fold, Effect.sleep("5 seconds"))),
      retryForever("countCampaigns", Effect.andThen(countAll, Effect.sleep("1 minute"))),
    ],
    { concurrency: "unbounded", discard: true },
  )
})
