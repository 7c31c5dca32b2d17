import { Deployment } from "@outreach/domain/Deployment"
import { isBotSuspected, recipientsPublished } from "@outreach/domain/digest/Digest"
import { type EventDraft, EventPublisher, recipientsOf, serialise } from "@outreach/domain/events/Event"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import { EventId, type OrganizationId } from "@outreach/domain/Identifier"
import { toTraceparent } from "@outreach/domain/TraceContext"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Array as Arr, Effect, Schema, Tracer } from "effect"
import type { SqlClient } from "effect/sql"
import { adapter } from "../adapter.ts"
import { countRecipients, RECIPIENT_STATE } from "../campaigns/campaignChanges.ts"
import { DIGEST_COLUMNS } from "../digest/digestColumns.ts"
import { rowsOf, toTable } from "../rowsOf.ts"
import { Hints } from "./Hints.ts"

/** Flags for the recipient's first event of its type on the date: among all events, and among those that aren't suspected bot hits. */
const firstRows = rowsOf(Schema.Struct({ id: EventId, first: Schema.Boolean, firstUnsuspected: Schema.Boolean }), {
  first: `hit.date is distinct from today.date
    and row_number() over (partition by recipient_id, is_open order by place) = 1`,
  firstUnsuspected: `not suspected and unsuspected_date is distinct from today.date
    and row_number() over (partition by recipient_id, is_open, suspected order by place) = 1`,
})

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
            select draft.* from ${toTable(
              "draft",
              drafts,
              {
                ...{ id: "text", type: "text", campaignId: "text", programId: "text", recipientId: "text" },
                ...{ occurredAt: "timestamptz", body: "text", recipients: "int", suspected: "bool" },
                ...{ first: "bool", firstUnsuspected: "bool" },
              },
              { isPlannedOnce: true },
            )}
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
              from ${toTable("stamped", events.flatMap(stampsOf), { recipientId: "text", stamp: "text" }, { isPlannedOnce: true })}
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

/**
 * Stamps the recipients who opened and clicked, and returns the events that are the first of their recipient, type and date. Runs in the stamped
 * transaction of the organization, which serializes the marking and has locked the recipients. Events that are neither opens nor clicks are skipped.
 */
const markHits = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  events: ReadonlyArray<EventDraft>,
  stamp: CommitTimestamp,
) {
  const hits = events
    .filter(({ type, recipientId }) => recipientId !== null && OUTGOING_EVENTS[type].isHit)
    .map((hit) => ({ ...hit, isOpen: hit.type === "outreach.email_opened", suspected: isBotSuspected(hit) }))
  if (hits.length === 0) return new Map()
  const rows = yield* sql`
    with today as (
      select (${stamp}::timestamptz at time zone 'UTC')::date as date
    ), hit as materialized (
      select hit.*, row_ctid, campaign_id, case when is_open then opened_on else clicked_on end as date,
        case when is_open then unsuspected_opened_on else unsuspected_clicked_on end as unsuspected_date
      from ${toTable("hit", hits, { id: "text", recipientId: "text", isOpen: "bool", suspected: "bool" }, { position: "place", isPlannedOnce: true })}
      cross join lateral (
        select ctid as row_ctid, campaign_id, opened_on, unsuspected_opened_on, clicked_on, unsuspected_clicked_on from recipients
        where organization_id = ${organizationId} and recipients.id = recipient_id limit 1
      ) recipient
    ), marked as (
      update recipients set updated_at = ${stamp}::timestamptz, last_event_at = ${stamp}::timestamptz,
        opened_on = case when opened then today.date else opened_on end,
        unsuspected_opened_on = case when unsuspected_opened then today.date else unsuspected_opened_on end,
        clicked_on = case when clicked then today.date else clicked_on end,
        unsuspected_clicked_on = case when unsuspected_clicked then today.date else unsuspected_clicked_on end
      from (
        select row_ctid, bool_or(is_open) as opened, bool_or(is_open and not suspected) as unsuspected_opened,
          bool_or(not is_open) as clicked, bool_or(not is_open and not suspected) as unsuspected_clicked
        from hit group by row_ctid
      ) each, today
      where recipients.ctid = row_ctid
    ), counted as (
      insert into campaign_count_changes (organization_id, campaign_id, hour, opened, clicked, unsuspected_opened, unsuspected_clicked)
      select ${organizationId}, campaign_id, date_trunc('hour', ${stamp}::timestamptz, 'UTC'),
        count(*) filter (where is_first and is_open), count(*) filter (where is_first and not is_open),
        count(*) filter (where is_first_unsuspected and is_open), count(*) filter (where is_first_unsuspected and not is_open)
      from (
        -- The first event ever; the digest counts the first of the date.
        select campaign_id, is_open, bool_and(date is null) as is_first,
          bool_or(not suspected) and bool_and(unsuspected_date is null) as is_first_unsuspected
        from hit group by recipient_id, campaign_id, is_open
      ) each
      where is_first or is_first_unsuspected
      group by campaign_id
    )
    select ${firstRows.columns} from hit cross join today`.pipe(firstRows.decode)
  return new Map(rows.map((row) => [row.id, row]))
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
