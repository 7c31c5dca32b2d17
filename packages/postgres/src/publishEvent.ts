import { Deployment } from "@outreach/domain/Deployment"
import { type EventDraft, serialise } from "@outreach/domain/events/Event"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { Stamp } from "./OrganizationClock.ts"

/**
 * Writes an event and a delivery for each enabled or disabled endpoint that subscribes to it; part of the transaction that was stamped.
 *
 * Events of campaigns that are no traffic are not forwarded: nothing is written.
 */
export const publishEvent = Effect.fnUntraced(function* (event: EventDraft, stamp: Stamp) {
  const sql = yield* SqlClient.SqlClient
  const { livemode } = yield* Deployment
  yield* sql`
    with event as (
      insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body)
      select organization_id, ${event.id}, ${event.type}, id, ${event.programId}, ${event.recipientId},
        ${event.occurredAt ?? stamp}::timestamptz, ${stamp}::timestamptz, ${serialise(event, livemode, stamp)}
      from campaigns
      where organization_id = ${event.organizationId} and id = ${event.campaignId} and kind = 'traffic'
      returning organization_id, id, type, emitted_at
    )
    insert into deliveries (organization_id, endpoint_id, event_id, due_at)
    select event.organization_id, endpoint.id, event.id, event.emitted_at
    from event join webhook_endpoints endpoint using (organization_id)
    where endpoint.event_types is null or event.type = any (endpoint.event_types)`
})
