import type { DeliveryId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { seedDeadLetters } from "./seedDeadLetters.ts"
import { column, sql } from "./sql.ts"

/**
 * Creates an organization with an enabled endpoint and deliveries that wait for their second attempt: the first is due in an hour, each other one a
 * second after the previous one. Every fifth is a replay. Returns their ids in this order.
 */
export const seedWaiting = Effect.fnUntraced(function* (count: number) {
  const seeded = yield* seedDeadLetters(0)
  const { organization, endpoint, eventId } = seeded
  yield* sql`update webhook_endpoints set enabled = true where id = ${endpoint.id}`
  const ids = yield* column<DeliveryId>`
    with waiting as (
      insert into deliveries (organization_id, endpoint_id, event_id, attempts, due_at, replay)
      select ${organization.id}, ${endpoint.id}, ${eventId}, 1, clock_timestamp() + interval '1 hour' + n * interval '1 second', n % 5 = 0
      from generate_series(1, ${count}::int) as n
      returning *
    ), made as (
      insert into delivery_attempts (organization_id, delivery_id, number, started_at, latency_ms, status, outcome)
      select organization_id, id, 1, clock_timestamp() - interval '1 hour', 5, 503, 'server_error' from waiting
    )
    select id from waiting order by due_at`
  return { ...seeded, ids }
})
