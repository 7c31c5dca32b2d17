import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { Effect } from "effect"
import { publishTogether } from "./publishTogether.ts"

/** Publishes events of a campaign, each in a transaction of its own and with one delivery for each endpoint. Returns their ids. */
export const publishSent = (campaign: Campaign, count: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), () => publishTogether(campaign, 1)),
    (ids) => ids.flat(),
  )
