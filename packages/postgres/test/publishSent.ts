import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { composeEvent } from "@outreach/domain/events/Event"
import { createIdentifier } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { commitTimestamp } from "../src/events/commitTimestamp.ts"
import { publishEvents } from "../src/events/publishEvents.ts"
import { inTransaction } from "./inTransaction.ts"

/** Publishes events of a campaign, each in a transaction of its own and with one delivery for each endpoint. */
export const publishSent = Effect.fnUntraced(function* (campaign: Campaign, count: number) {
  return yield* Effect.forEach(
    Array.from({ length: count }),
    Effect.fnUntraced(function* () {
      const about = {
        id: yield* createIdentifier("event"),
        organizationId: campaign.organizationId,
        campaignId: campaign.id,
        programId: campaign.programId,
        recipientId: yield* createIdentifier("recipient"),
      }
      const event = composeEvent("outreach.email_sent", about, {
        service_recipient_id: about.recipientId,
        service_campaign_id: campaign.id,
        token: "aB3dE9",
      })
      yield* inTransaction(Effect.flatMap(commitTimestamp(campaign.organizationId), (at) => publishEvents([event], at)))
      return event.id
    }),
  )
})
