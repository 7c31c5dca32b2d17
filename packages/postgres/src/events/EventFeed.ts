import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import { CampaignId, EventId, type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { dieOnDatabaseFailure } from "../adapter.ts"
import { rowsOf } from "../rowsOf.ts"

/** An event that was published, with the envelope as it was written then. */
const PublishedEvent = Schema.Struct({
  id: EventId,
  emittedAt: Timestamp,
  campaignId: CampaignId,
  recipientId: Schema.NullOr(RecipientId),
  body: Schema.String,
})
export type PublishedEvent = typeof PublishedEvent.Type

/** The last event of the feed that was read. */
export type FeedPosition = Pick<PublishedEvent, "emittedAt" | "id">

const { columns, fromValues } = rowsOf(PublishedEvent)

/** Offers the events that were published, for reading again. */
export class EventFeed extends Context.Service<EventFeed>()("postgres/events/EventFeed", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return dieOnDatabaseFailure("EventFeed", {
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
            ? sql`
                select ${columns} from events
                where organization_id = ${organizationId} and type = any (${types}::text[]) and ${beyond}
                order by emitted_at, id limit ${limit}`
            : sql`
                select found.* from unnest(${types}::text[]) as wanted (type)
                cross join lateral (
                  select ${columns} from events
                  where organization_id = ${organizationId} and type = wanted.type and ${beyond}
                  -- Ordered by the one type, too: only events_by_type has this order. Otherwise the planner reads the whole log for a
                  -- type that is rarer than it estimates.
                  order by type, emitted_at, id limit ${limit}
                ) found
                order by "emittedAt", id limit ${limit}`
        return Effect.map(range.values, (rows) => rows.map(fromValues))
      },
    })
  }),
}) {
  static readonly layer = Layer.effect(EventFeed, EventFeed.make)
}
