import { Deployment } from "@outreach/domain/Deployment"
import { type EventDraft, serialise } from "@outreach/domain/events/Event"
import { Effect } from "effect"
import { HttpTraceContext } from "effect/http"
import { SqlClient } from "effect/sql"
import type { Stamp } from "./OrganizationClock.ts"

/**
 * Writes events of one organization, and a delivery of each for every endpoint, enabled or disabled, that subscribes to it; part of the
 * transaction that was stamped.
 *
 * Events of campaigns that are no traffic are not forwarded: nothing is written.
 */
export const publishEvents = Effect.fnUntraced(function* (events: ReadonlyArray<EventDraft>, stamp: Stamp) {
  const sql = yield* SqlClient.SqlClient
  const { livemode } = yield* Deployment
  const column = (read: (event: EventDraft) => string) => events.map(read)
  yield* traced(
    events,
    (traceparent) => sql`
    with event as (
      insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body, traceparent)
      select draft.organization_id, draft.id, type, campaign_id, draft.program_id, nullif(recipient_id, ''),
        coalesce(nullif(occurred_at, ''), ${stamp})::timestamptz, ${stamp}::timestamptz, body, ${traceparent}
      from unnest(
        ${column((event) => event.organizationId)}::text[], ${column((event) => event.id)}::text[],
        ${column((event) => event.type)}::text[], ${column((event) => event.campaignId)}::text[],
        ${column((event) => event.programId)}::text[], ${column((event) => event.recipientId ?? "")}::text[],
        ${column((event) => event.occurredAt ?? "")}::text[],
        ${column((event) => serialise(event, livemode, stamp))}::text[]
      ) as draft (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, body)
      join campaigns on campaigns.organization_id = draft.organization_id and campaigns.id = campaign_id and kind = 'traffic'
      returning organization_id, id, type, emitted_at
    ), queued as (
      insert into deliveries (organization_id, endpoint_id, event_id, due_at)
      select event.organization_id, endpoint.id, event.id, event.emitted_at
      from event join webhook_endpoints endpoint using (organization_id)
      where endpoint.event_types is null or event.type = any (endpoint.event_types)
      returning id
    )
    select pg_notify('deliveries', '') where exists (select from queued)`,
  )
})

/** Publishes within a span that names the events, and hands on its W3C trace context; null when nobody traces. */
const traced = <A, E, R>(
  events: ReadonlyArray<EventDraft>,
  publish: (traceparent: string | null) => Effect.Effect<A, E, R>,
) =>
  Effect.useSpan(
    "publish events",
    { kind: "producer", attributes: { "outreach.event.ids": events.map(({ id }) => id) } },
    (span) => publish(span.sampled ? HttpTraceContext.toHeaders(span)["traceparent"]! : null),
  )
