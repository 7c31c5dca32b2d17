import type { FeedEventType } from "@outreach/contract"
import { Context, type Effect } from "effect"
import type { CampaignId, EventId, OrganizationId, RecipientId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** A place in the feed: the last event that was read. */
export interface FeedPosition {
  readonly emittedAt: Timestamp
  readonly id: EventId
}

/** An event that was published, with the envelope as it was written then. */
export interface PublishedEvent extends FeedPosition {
  readonly campaignId: CampaignId
  readonly recipientId: RecipientId | null
  readonly body: string
}

/** Offers the events that were published, for reading again. */
export class EventFeed extends Context.Service<
  EventFeed,
  {
    /** Reads at most `limit` events of the given types in the order (`emittedAt`, id): from `since` on, inclusive, or after a position. */
    page(
      organizationId: OrganizationId,
      types: ReadonlyArray<FeedEventType>,
      from: { readonly since: Timestamp } | { readonly after: FeedPosition },
      limit: number,
    ): Effect.Effect<ReadonlyArray<PublishedEvent>>
  }
>()("domain/events/EventFeed") {}
