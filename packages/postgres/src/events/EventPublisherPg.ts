import { Deployment } from "@outreach/domain/Deployment"
import { isBotSuspected, recipientsPublished } from "@outreach/domain/digest/Digest"
import { type EventDraft, recipientsOf, serialise } from "@outreach/domain/events/Event"
import { EventPublisher } from "@outreach/domain/events/EventPublisher"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import { toTraceparent } from "@outreach/domain/TraceContext"
import { Array as Arr, Effect, Tracer } from "effect"
import { adapter } from "../adapter.ts"
import { countRecipients, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { DIGEST_COLUMNS } from "../digest/digestColumns.ts"
import { toTable } from "../toTable.ts"
import { Hints } from "./Hints.ts"
import { markHits } from "./markHits.ts"

export const EventPublisherPg = adapter(EventPublisher, function* (sql) {
  const { livemode } = yield* Deployment
  const hints = yield* Hints

  const stampColumns = sql.csv(
    STAMPS.map(
      (stamp) => sql`${sql(stamp)} = case when stamped.stamp = ${stamp} then stamped.at else ${sql(stamp)} end`,
    ),
  )

  return {
    publish: Effect.fnUntraced(function* (events, at) {
      if (!Arr.isReadonlyArrayNonEmpty(events)) return
      const { organizationId } = events[0]
      const firsts = yield* markHits(sql, organizationId, events, at)
      const drafts = events.map((event) => ({
        ...event,
        recipientId: event.recipientId ?? "",
        occurredAt: event.occurredAt ?? at,
        body: serialise(event, livemode, at),
        recipients: recipientsPublished(event),
        suspected: isBotSuspected(event),
        first: firsts.get(event.id)?.first ?? false,
        firstUnsuspected: firsts.get(event.id)?.firstUnsuspected ?? false,
      }))
      // One statement, because other transactions of the organization wait for its clock.
      yield* traced(
        events,
        (traceparent) => sql`
          with draft as materialized (
            select draft.* from ${toTable("draft", drafts, {
              ...{ id: "text", type: "text", campaignId: "text", programId: "text", recipientId: "text" },
              ...{ occurredAt: "timestamptz", body: "text", recipients: "int", suspected: "bool" },
              ...{ first: "bool", firstUnsuspected: "bool" },
            })}
            join campaigns on campaigns.organization_id = ${organizationId} and campaigns.id = campaign_id and kind = 'traffic'
          ), event as (
            insert into events (organization_id, id, type, campaign_id, program_id, recipient_id, occurred_at, emitted_at, body, traceparent)
            select ${organizationId}, id, type, campaign_id, program_id, nullif(recipient_id, ''), occurred_at, ${at}::timestamptz, body,
              ${traceparent}
            from draft
          ), counted as (
            insert into digest_outreach as kept (organization_id, program_id, date, recipients_published, ${sql.literal(COLUMNS)})
            select ${organizationId}, program_id, (${at}::timestamptz at time zone 'UTC')::date, sum(recipients), ${sql.literal(COUNTS)}
            from draft group by program_id
            on conflict (organization_id, date, program_id) do update set
              recipients_published = kept.recipients_published + excluded.recipients_published, ${sql.literal(ADDED)}
          ), changed as (
            update recipients recipient set updated_at = stamped.at, ${stampColumns},
              last_event_at = case when stamped.stamp = 'published_at' then last_event_at else stamped.at end
            from (
              select recipient_id, stamp, ${at}::timestamptz as at
              from ${toTable("stamped", events.flatMap(stampsOf), { recipientId: "text", stamp: "text" })}
            ) stamped
            where recipient.organization_id = ${organizationId} and recipient.id = stamped.recipient_id
            returning ${RECIPIENT_STATE}
          ), tallied as (${countRecipients("changed")})
          select`,
      )
      yield* hints.give("events", organizationId)
    }),
  }
})

/** The columns that events stamp. */
const STAMPS = Arr.dedupe(Object.values(OUTGOING_EVENTS).flatMap(({ stamp }) => stamp ?? []))

/** Returns the recipients of an event with the column that it stamps; none for hits, which are stamped by `markHits`. */
const stampsOf = (event: EventDraft) => {
  const { isHit, stamp } = OUTGOING_EVENTS[event.type]
  return isHit ? [] : recipientsOf(event).map((recipientId) => ({ recipientId, stamp: stamp ?? "" }))
}

const COLUMNS = DIGEST_COLUMNS.map(({ name }) => name).join(", ")

const COUNTS = DIGEST_COLUMNS.map(({ type, isUnique, isUnsuspected }) => {
  const first = isUnsuspected ? "first_unsuspected" : "first"
  const isCounted = isUnique ? ` and ${first}` : isUnsuspected ? " and not suspected" : ""
  return `count(*) filter (where type = '${type}'${isCounted})`
}).join(", ")

const ADDED = DIGEST_COLUMNS.map(({ name }) => `${name} = kept.${name} + excluded.${name}`).join(", ")

/** Publishes in a span that names the events, and passes its `traceparent`; null without tracing. */
const traced = <A, E, R>(
  events: ReadonlyArray<EventDraft>,
  publish: (traceparent: string | null) => Effect.Effect<A, E, R>,
) =>
  Effect.useSpan(
    "publish events",
    { kind: "producer", attributes: { "outreach.event.ids": events.map(({ id }) => id) } },
    (span) => Effect.provideService(publish(toTraceparent(span)), Tracer.ParentSpan, span),
  )
