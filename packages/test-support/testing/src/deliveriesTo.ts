import type { Attempt, DeliveryState } from "@outreach/domain/deliveries/Delivery"
import type { DeliveryId, EndpointId, EventId } from "@outreach/domain/Identifier"
import { attemptsMade } from "@outreach/postgres/deliveries/attemptsMade"
import { Effect } from "effect"
import { sql } from "./sql.ts"

interface StoredDelivery {
  readonly id: DeliveryId
  readonly eventId: EventId
  readonly state: DeliveryState
  /** The number of attempts with a known outcome or that were given up. */
  readonly attempts: number
  readonly made: ReadonlyArray<Attempt>
}

const made = (attempts: string) => sql.literal(attemptsMade(attempts))

/** Reads all deliveries to an endpoint, newest first: from its log, the rows, the dead letters and the completed ones. */
export const deliveriesTo = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const rows = yield* sql<Omit<StoredDelivery, "eventId"> & { readonly event_id: EventId }>`
    select delivery_id(event_id, ${endpointId}) collate "C" as id, event_id, 'sending' as state, 0 as attempts, '[]'::jsonb as made
    from reader_position(${endpointId}) cross join lateral unnest(open) as event_id
    union all
    select waiting.id, event_id, 'pending', 0, '[]'
    from endpoint_readers reader join webhook_endpoints endpoint on endpoint.id = endpoint_id
    cross join lateral reader_position(endpoint_id)
    cross join lateral deliveries_in_log(endpoint_id, event_types, begun_at, begun_id, '', '~', '~', 1000) waiting
    where endpoint_id = ${endpointId}
    union all
    select id, event_id, case when owner is null then 'pending' else 'sending' end, attempts, coalesce((
      select jsonb_agg(attempt_json(number, started_at, latency_ms, status, outcome, response) order by number, started_at)
      from delivery_attempts where delivery_id = deliveries.id), '[]')
    from deliveries where endpoint_id = ${endpointId}
    union all
    select id, event_id, reason, ${made("attempts")}, attempts from dead_letters where endpoint_id = ${endpointId}
    union all
    select each.id, each.event_id, 'delivered', ${made("each.attempts")}, each.attempts
    from delivered history cross join lateral (
      select history.id, history.event_id, history.attempts where deliveries is null
      union all
      select delivery->>'id', delivery->>'eventId', jsonb_build_array(delivery->'attempt') from json_array_elements(deliveries) delivery
    ) each
    where endpoint_id = ${endpointId}
    order by id desc`
  return rows.map(({ event_id: eventId, ...row }): StoredDelivery => ({ ...row, eventId }))
})
