import { Effect } from "effect"

/** Loads the use cases of campaigns when a command needs them, because they bring along all that renders a message. */
export const loadCampaigns = Effect.promise(() => import("@outreach/domain/campaigns/Campaigns"))
