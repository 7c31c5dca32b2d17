import { FEED_EVENT_TYPES, type FeedEventType } from "@outreach/contract"
import { CampaignId, EventId, type OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Schema } from "effect"
import { DatabaseService } from "../adapter.ts"
import { rowsOf } from "../rowsOf.ts"
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

/** Reads published events from the feed. */
export class EventFeed extends DatabaseService<EventFeed>()("postgres/events/EventFeed", (sql) => ({
  /** Reads at most `limit` events of the given types after a position, in the order (`emittedAt`, id). */
  page: (organizationId: OrganizationId, types: ReadonlyArray<FeedEventType>, after: FeedPosition, limit: number) => {
    const isFiltered = types.length < FEED_EVENT_TYPES.length
    const page = sql`
      select ${columns} from feed_page(
        ${organizationId}, ${types}::text[], ${isFiltered}, ${after.emittedAt}::timestamptz, ${after.id}, ${limit}::int)`.values.pipe(
      Effect.map((rows) => rows.map(fromValues)),
    )
    return readSettled(sql, organizationId, page, limit, ({ emittedAt }) => emittedAt, after.emittedAt)
  },
})) {}
