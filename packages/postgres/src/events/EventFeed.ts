import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import { CampaignId, EventId, type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { DatabaseService } from "../adapter.ts"
import { keyset, rowsOf } from "../rowsOf.ts"
import { readSettled } from "./readSettled.ts"

/** A published event with its stored envelope. */
const PublishedEvent = Schema.Struct({
  id: EventId,
  emittedAt: Timestamp,
  campaignId: CampaignId,
  recipientId: Schema.NullOr(RecipientId),
  body: Schema.String,
})
export type PublishedEvent = typeof PublishedEvent.Type

/** The position of the last event that was read. */
export type FeedPosition = Pick<PublishedEvent, "emittedAt" | "id">

/** Sorts before every id. */
const FIRST = "" as EventId

/** The position before the events emitted at or after a time. */
export const feedFrom = (since: Timestamp): FeedPosition => ({ emittedAt: since, id: FIRST })

const { columns, fromValues } = rowsOf(PublishedEvent)
const byEmission = keyset({ emittedAt: "emitted_at", id: "id" }, "asc")

/** Reads published events from the feed. */
export class EventFeed extends DatabaseService<EventFeed>()("postgres/events/EventFeed", (sql) => ({
  /**
   * Reads at most `limit` events of the given types after a position, in the order (`emittedAt`, id).
   *
   * The unfiltered feed is one index range. A filter uses one range per type, merged, so that finding a rare type doesn't require reading
   * the other types.
   */
  page: (organizationId: OrganizationId, types: ReadonlyArray<FeedEventType>, after: FeedPosition, limit: number) => {
    // Also compares the time, because a row comparison doesn't prune partitions. Without an id the row comparison would only cost 8 % of PostgreSQL's time.
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
                  -- The constant type in the order selects the index events_by_type. Otherwise the planner scans the whole log for a
                  -- type that is rarer than its estimate.
                  order by type, emitted_at, id limit ${limit}
                ) found
                order by "emittedAt", id limit ${limit}`
    const page = Effect.map(range.values, (rows) => rows.map(fromValues))
    return readSettled(sql, organizationId, page, limit, ({ emittedAt }) => emittedAt, after.emittedAt)
  },
})) {}
