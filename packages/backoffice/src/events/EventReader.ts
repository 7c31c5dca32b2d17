import { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import {
  CampaignId,
  EventId,
  lowestIdentifierAt,
  madeAt,
  OrganizationId,
  ProgramId,
  RecipientId,
} from "@outreach/domain/Identifier"
import { Recipient } from "@outreach/domain/recipients/Recipient"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { BATCH_SPAN_MS } from "@outreach/postgres/deliveries/progressColumns"
import { IN_EVENTS_OF_RECIPIENT, STAMPED_EVENTS } from "@outreach/postgres/events/recipientEvents"
import { allOf, decodeRows, equal, first, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema, Struct } from "effect"
import { type FilterOf, field, filterBy, timeRange } from "../operations/Field.ts"
import type { Direction } from "../operations/List.ts"

/** An outgoing event as published. */
const LoggedEvent = Schema.Struct({
  organizationId: OrganizationId,
  id: EventId,
  type: Schema.String,
  programId: ProgramId,
  campaignId: CampaignId,
  campaignName: Schema.String,
  /** The recipient of an event about exactly one. */
  recipientId: Schema.NullOr(RecipientId),
  /** Null after the recipient was erased. */
  npi: Schema.NullOr(Recipient.fields.npi),
  occurredAt: Timestamp,
  emittedAt: Timestamp,
})
export type LoggedEvent = typeof LoggedEvent.Type

/** A delivery of an event from the log. */
const EventDelivery = Schema.Struct({
  ...Struct.pick(DeliverySummary.fields, ["eventId", "id", "endpointId", "state", "replayedAs"]),
  /** The shown address of the endpoint. */
  url: Endpoint.fields.url,
})
export type EventDelivery = typeof EventDelivery.Type

/** The conditions of a list of events, all of which must match. */
export const eventFilters = {
  organizationId: filterBy.organization,
  type: filterBy.type,
  campaignId: filterBy.campaign,
  recipientId: field(RecipientId, "Clinician", { placeholder: "rcp_…", hint: "The id of a recipient" }),
  ...timeRange("Emitted from", "Emitted before"),
}

export type EventFilter = FilterOf<typeof eventFilters>

export type EventCursor = Pick<LoggedEvent, "emittedAt" | "id">

/** Number of the organization's events that one page of a campaign's list reads. */
export const MAX_EVENT_SCAN = 5000

const listed = rowsOf(LoggedEvent, {
  campaignName: `(
    select name from campaigns where campaigns.organization_id = event.organization_id and campaigns.id = event.campaign_id)`,
  npi: `(
    select npi from recipients
    where recipients.organization_id = event.organization_id and recipients.id = event.recipient_id and erased_at is null)`,
})
const deliveries = rowsOf(EventDelivery, { url: "shown_url(url)" })
const decodeWhole = decodeRows({ ...LoggedEvent.fields, body: Schema.String })
const cursors = rowsOf(LoggedEvent.mapFields(Struct.pick(["emittedAt", "id"])))
const spans = rowsOf(
  Schema.Struct({ organizationId: OrganizationId, createdAt: Timestamp, lastAt: Schema.NullOr(Timestamp) }),
  {
    lastAt:
      "(select max(updated_at) from recipients where organization_id = campaigns.organization_id and campaign_id = campaigns.id)",
  },
)
const byTime = { emittedAt: "emitted_at", id: "id" }
/** The order of `events_by_type` for one type. */
const byType = { type: "type", ...byTime }

/** The part of a list of events to read. */
interface EventPart {
  readonly before: EventCursor | null
  readonly limit: number
  readonly direction: Direction
}

/** Reads the published events, and their deliveries. */
export const EventReader = reader("EventReader", (sql) => {
  const inRange = ({ type, from, to }: EventFilter, { before, direction }: EventPart) =>
    allOf(
      equal({ type }),
      from && sql`emitted_at >= ${from}`,
      to && sql`emitted_at < ${to}`,
      keyset(byTime, direction).after(before),
      // Also by the time: a comparison of rows excludes no partition.
      before === null
        ? undefined
        : sql`emitted_at ${sql.literal(direction === "desc" ? "<=" : ">=")} ${before.emittedAt}`,
    )

  /** A recipient's events are found by their index, or by their times in the recipient's row. */
  const ofRecipient = (recipientId: RecipientId, filter: EventFilter, part: EventPart) => {
    const { order } = keyset(byTime, part.direction)
    const stamped = (type: keyof typeof STAMPED_EVENTS, isAbout: string) => sql`
      select event.* from recipients recipient cross join lateral (
        select * from events event
        where organization_id = recipient.organization_id and type = ${type}
          and emitted_at = recipient.${sql.literal(STAMPED_EVENTS[type])} and ${sql.literal(isAbout)} and ${inRange(filter, part)}
        limit 1
      ) event
      where recipient.organization_id in (select id from organizations) and recipient.id = ${recipientId}`
    return sql`
      select ${listed.columns} from (
        (select * from events
        where organization_id in (select id from organizations) and recipient_id = ${recipientId}
          and ${sql.literal(IN_EVENTS_OF_RECIPIENT)} and ${inRange(filter, part)}
        order by ${order} limit ${part.limit})
        union all ${stamped("outreach.email_sent", "event.recipient_id = recipient.id")}
        union all ${stamped("outreach.recipients_published", "strpos(body, recipient.id) > 0")}
      ) event
      where ${equal({ organization_id: filter.organizationId, campaign_id: filter.campaignId })}
      order by ${order} limit ${part.limit}`.pipe(listed.decode)
  }

  const ofOrganizations = (filter: EventFilter, part: EventPart) => {
    const { order } = keyset(byTime, part.direction)
    return sql`
      select ${listed.columns} from (
        select found.* from organizations cross join lateral (
          select * from events
          where organization_id = organizations.id and ${inRange(filter, part)}
          order by ${filter.type === undefined ? order : keyset(byType, part.direction).order} limit ${part.limit}
        ) found
        where ${equal({ "organizations.id": filter.organizationId })}
        order by ${order} limit ${part.limit}
      ) event
      order by ${order}`.pipe(listed.decode)
  }

  return {
    /**
     * Lists a page of events, by default newest first, and the event after which the list continues; null at its end. No index has a campaign's
     * events: its list reads `MAX_EVENT_SCAN` events between its creation and the last change of its recipients, so a page may be short or
     * empty before the end.
     */
    page: Effect.fnUntraced(function* (
      filter: EventFilter,
      limit: number,
      before: EventCursor | null,
      direction: Direction = "desc",
    ) {
      const { recipientId, campaignId } = filter
      const part = { before, limit: limit + 1, direction }
      const ordered = keyset(byTime, direction)
      const pageOf = (rows: ReadonlyArray<LoggedEvent>, end?: EventCursor) => ordered.page(rows, limit, end)
      if (recipientId !== undefined) return pageOf(yield* ofRecipient(recipientId, filter, part))
      if (campaignId === undefined) return pageOf(yield* ofOrganizations(filter, part))
      const [campaign] = yield* sql`select ${spans.columns} from campaigns where id = ${campaignId}`.pipe(spans.decode)
      if (campaign === undefined || campaign.lastAt === null) return pageOf([])
      const { organizationId, createdAt, lastAt } = campaign
      const { order } = filter.type === undefined ? ordered : keyset(byType, direction)
      const isScanned = allOf(
        sql`organization_id = ${organizationId} and emitted_at <= ${lastAt} and emitted_at >= ${createdAt}`,
        inRange(filter, part),
      )
      const [last] = yield* sql`
        select ${cursors.columns} from events
        where ${isScanned} order by ${order} offset ${MAX_EVENT_SCAN - 1} limit 1`.pipe(cursors.decode)
      const found = yield* sql`
        select ${listed.columns} from events event
        where ${isScanned} and campaign_id = ${campaignId}
          and ${ordered.upTo(last)}
        order by ${order} limit ${limit + 1}`.pipe(listed.decode)
      return pageOf(found, last)
    }),

    /** Finds an event with its body and its recipient's NPI, in one organization or in any; otherwise undefined. */
    find: (id: EventId, organizationId: OrganizationId | null) =>
      sql`
        select ${listed.columns}, body from (
          select found.* from organizations cross join lateral (
            select * from events where organization_id = organizations.id and id = ${id} limit 1
          ) found
          where ${equal({ "organizations.id": organizationId ?? undefined })} limit 1
        ) event`.pipe(decodeWhole, first),

    /**
     * Reads the deliveries from the log of one organization's events in one statement, without completed ones past their retention. Each id
     * follows from the event and the endpoint.
     */
    deliveries: Effect.fnUntraced(function* (organizationId: OrganizationId, eventIds: ReadonlyArray<EventId>) {
      if (eventIds.length === 0) return []
      return yield* sql`
        with wanted as materialized (
          select given.event_id, event.emitted_at, event.type, endpoint.id as endpoint_id, endpoint.event_types, url,
            delivery_id(given.event_id, endpoint.id) collate "C" as id, given.batches_to
          from unnest(
            ${eventIds}::text[],
            ${eventIds.map((id) => lowestIdentifierAt("delivery", madeAt(id) + BATCH_SPAN_MS + 2))}::text[]
          ) as given (event_id, batches_to)
          cross join lateral (
            select type, emitted_at from events where organization_id = ${organizationId} and id = given.event_id offset 0
          ) event
          join webhook_endpoints endpoint on endpoint.organization_id = ${organizationId}
        ), kept as materialized (
          select wanted.*, found.state, found.replayed_as from wanted cross join lateral (
            select case when owner is null then 'pending' else 'sending' end as state, null as replayed_as from deliveries
            where organization_id = ${organizationId} and id = wanted.id
            union all
            select reason, nullif(replayed_as, '') from dead_letters where organization_id = ${organizationId} and id = wanted.id
            union all
            select case when cancelled then 'cancelled' else 'delivered' end, null from delivered history
            where organization_id = ${organizationId} and endpoint_id = wanted.endpoint_id and finished_at >= wanted.emitted_at
              and history.id >= wanted.id and history.id < wanted.batches_to and coalesce(first_id, history.id) <= wanted.id
              and (history.id = wanted.id and deliveries is null or exists (
                select from json_array_elements(deliveries) each where each->>'id' = wanted.id))
          ) found
        ), logged as (
          select wanted.*, case when wanted.event_id = any (open) then 'sending' else 'pending' end as state, null as replayed_as
          from wanted cross join lateral reader_position(wanted.endpoint_id) position
          where not exists (select from kept where kept.id = wanted.id)
            and (wanted.event_id = any (open) or (emitted_at, wanted.event_id) > (begun_at, begun_id)
              and (event_types is null or type = any (event_types)))
        )
        select ${deliveries.columns} from (select * from kept union all select * from logged) delivery
        order by event_id, endpoint_id`.pipe(deliveries.decode)
    }),
  }
})
