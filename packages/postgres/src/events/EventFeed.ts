import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import type { CampaignId, EventId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"

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
export class EventFeed extends Context.Service<EventFeed>()("postgres/events/EventFeed", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const columns = sql.literal(`
      id, emitted_at as "emittedAt", campaign_id as "campaignId", recipient_id as "recipientId", body`)

    return {
      /**
       * Reads at most `limit` events of the given types in the order (`emittedAt`, id): from `since` on, inclusive, or after a position.
       *
       * One range of an index for the whole feed; for a filter, one range for each type, merged, so that a rare type is found without
       * reading past the others.
       */
      page: (
        organizationId: OrganizationId,
        types: ReadonlyArray<FeedEventType>,
        from: { readonly since: Timestamp } | { readonly after: FeedPosition },
        limit: number,
      ) => {
        const beyond =
          "after" in from
            ? // By the time alone as well: a comparison of rows leaves no partition out.
              sql`emitted_at >= ${from.after.emittedAt}::timestamptz
              and (emitted_at, id) > (${from.after.emittedAt}::timestamptz, ${from.after.id})`
            : sql`emitted_at >= ${from.since}::timestamptz`
        const range =
          types.length === FEED_EVENT_TYPES.length
            ? sql<PublishedEvent>`
                select ${columns} from events
                where organization_id = ${organizationId} and type = any (${types}::text[]) and ${beyond}
                order by emitted_at, id limit ${limit}`
            : sql<PublishedEvent>`
                select found.* from unnest(${types}::text[]) as wanted (type)
                cross join lateral (
                  select ${columns} from events
                  where organization_id = ${organizationId} and type = wanted.type and ${beyond}
                  -- By the type, too, which is one: only events_by_type has this order, and the planner would read the whole log for
                  -- a type that is rarer than it believes.
                  order by type, emitted_at, id limit ${limit}
                ) found
                order by "emittedAt", id limit ${limit}`
        return orDieAs("EventFeed.page")(range)
      },
    }
  }),
}) {
  static readonly layer = Layer.effect(EventFeed, EventFeed.make)
}
