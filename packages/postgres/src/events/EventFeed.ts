import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import { CampaignId, EventId, type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { DatabaseService } from "../adapter.ts"
import { keyset } from "../keyset.ts"
import { rowsOf } from "../rowsOf.ts"
import { readSettled } from "./readSettled.ts"

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

/** Comes before every id. */
const FIRST = "" as EventId

/** The position before the events emitted at a time or later. */
export const feedFrom = (since: Timestamp): FeedPosition => ({ emittedAt: since, id: FIRST })

const { columns, fromValues } = rowsOf(PublishedEvent)
const byEmission = keyset({ emittedAt: "emitted_at", id: "id" }, "asc")

/** Offers the events that were published, for reading again. */
export class EventFeed extends DatabaseService<EventFeed>()("postgres/events/EventFeed", (sql) => ({
  /**
   * Reads at most `limit` events of the given types in the order (`emittedAt`, id), after a position.
   *
   * One range of an index for the whole feed; for a filter, one range for each type, merged, so that a rare type is found without
   * reading past the others.
   */
  page: (organizationId: OrganizationId, types: ReadonlyArray<FeedEventType>, after: FeedPosition, limit: number) => {
    // By the time alone as well: a comparison of rows leaves no partition out. Before the first id it adds nothing, and 8 % of PostgreSQL's time.
    const since = sql`emitted_at >= ${after.emittedAt}::timestamptz`
    const beyond = after.id === FIRST ? since : sql`${since} and ${byEmission.after(after)}`
    const range =
      types.length === FEED_EVENT_TYPES.length
        ? sql`
                select ${columns} from events
                where organization_id = ${organizationId} and type = any (${types}::text[]) and ${beyond}
                order by ${byEmission.order} limit ${limit}`
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
    const page = Effect.map(range.values, (rows) => rows.map(fromValues))
    return readSettled(sql, organizationId, page, limit, ({ emittedAt }) => emittedAt, after.emittedAt)
  },
})) {}
