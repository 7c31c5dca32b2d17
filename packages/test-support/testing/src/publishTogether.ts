import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { composeSent } from "@outreach/domain/events/Event"
import { EventPublisher } from "@outreach/domain/events/EventPublisher"
import { createIdentifier } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { withTimestamp } from "./inTransaction.ts"

/** Publishes events of a campaign in one transaction. Returns their ids. */
export const publishTogether = Effect.fnUntraced(function* (campaign: Campaign, count: number) {
  const events = yield* Effect.forEach(
    Array.from({ length: count }),
    Effect.fnUntraced(function* () {
      const recipientId = yield* createIdentifier("recipient")
      return yield* composeSent({ ...campaign, campaignId: campaign.id, recipientId, token: "aB3dE9" })
    }),
  )
  yield* withTimestamp(campaign.organizationId, (at) => EventPublisher.use(({ publish }) => publish(events, at)))
  return events.map(({ id }) => id)
})

/** Publishes events of a campaign, each in its own transaction with one delivery for each endpoint. Returns their ids. */
export const publishSent = (campaign: Campaign, count: number) =>
  Effect.map(
    Effect.forEach(Array.from({ length: count }), () => publishTogether(campaign, 1)),
    (ids) => ids.flat(),
  )
