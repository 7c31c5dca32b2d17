import { eventExamples, type FeedEventType } from "@outreach/contract"
import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { composeEvent, EventPublisher } from "@outreach/domain/events/Event"
import { createIdentifier, type RecipientId } from "@outreach/domain/Identifier"
import { commitTimestamp } from "@outreach/postgres/events/commitTimestamp"
import { inTransaction } from "@outreach/testing/sql"
import { Effect } from "effect"

/** Publishes outcomes of a campaign in one transaction, so that all have the same stamp. Returns their ids in feed order. */
export const publishOutcomes = Effect.fnUntraced(function* (
  campaign: Campaign,
  types: ReadonlyArray<FeedEventType>,
  recipientId?: RecipientId,
) {
  const events = yield* Effect.forEach(
    types,
    Effect.fnUntraced(function* (type) {
      const about = {
        id: yield* createIdentifier("event"),
        organizationId: campaign.organizationId,
        campaignId: campaign.id,
        programId: campaign.programId,
        recipientId: recipientId ?? (yield* createIdentifier("recipient")),
      }
      return composeEvent(type, about, eventExamples[type].data)
    }),
  )
  yield* inTransaction(
    Effect.flatMap(commitTimestamp(campaign.organizationId), (at) =>
      EventPublisher.use(({ publish }) => publish(events, at)),
    ),
  )
  return events.map(({ id }) => id).sort()
})
