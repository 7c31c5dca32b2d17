import { DELIVERY_STATES } from "@outreach/domain/deliveries/Delivery"
import {
  DeliveryId,
  EndpointId,
  EventId,
  lowestIdentifierAt,
  madeAt,
  type OrganizationId,
} from "@outreach/domain/Identifier"
import { reader } from "@outreach/postgres/adapter"
import { BATCH_SPAN_MS } from "@outreach/postgres/deliveries/progressColumns"
import { rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

const EventDelivery = Schema.Struct({
  eventId: EventId,
  id: DeliveryId,
  endpointId: EndpointId,
  state: Schema.Literals(DELIVERY_STATES),
  /** The delivery that replays it, or null. */
  replayedAs: Schema.NullOr(DeliveryId),
})
export type EventDelivery = typeof EventDelivery.Type

const { columns, decode } = rowsOf(EventDelivery)

/** Reads the deliveries of some events, without completed ones past their retention. */
export const EventDeliveries = reader("EventDeliveries", (sql) => ({
  /** Reads the deliveries from the log for one organization's events in one statement. Each id follows from the event and the endpoint. */
  read: Effect.fnUntraced(function* (organizationId: OrganizationId, eventIds: ReadonlyArray<EventId>) {
    if (eventIds.length === 0) return []
    return yield* sql`
      with wanted as materialized (
        select given.event_id, event.emitted_at, event.type, endpoint.id as endpoint_id, endpoint.event_types,
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
      select ${columns} from (select * from kept union all select * from logged) delivery
      order by event_id, endpoint_id`.pipe(decode)
  }),
}))
