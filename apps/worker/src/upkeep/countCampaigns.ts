import { CampaignCounts } from "@outreach/postgres/campaigns/CampaignCounts"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"

/** Adds to the counts of campaigns what has changed, until interrupted. */
export const countCampaigns = Effect.flatMap(CampaignCounts, ({ fold }) =>
  retryForever("foldCampaignCounts", Effect.andThen(fold, Effect.sleep("5 seconds"))),
)
