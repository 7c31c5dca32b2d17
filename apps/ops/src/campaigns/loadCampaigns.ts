import { Effect } from "effect"

/** Loads the campaign use cases on demand, because they import the libraries that render messages. */
export const loadCampaigns = Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))
