import { isBotSuspected } from "@outreach/domain/digest/Digest"
import type { EventDraft } from "@outreach/domain/events/Event"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import { EventId, type OrganizationId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { rowsOf } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"

/** Flags for the recipient's first event of its type on the date: among all events, and among those that aren't suspected bot hits. */
const firsts = rowsOf(Schema.Struct({ id: EventId, first: Schema.Boolean, firstUnsuspected: Schema.Boolean }), {
  first: `hit.date is distinct from today.date
    and row_number() over (partition by recipient_id, is_open order by place) = 1`,
  firstUnsuspected: `not suspected and unsuspected_date is distinct from today.date
    and row_number() over (partition by recipient_id, is_open, suspected order by place) = 1`,
})

/**
 * Stamps the recipients who opened and clicked, and returns the events that are the first of their recipient, type and date. Runs in the stamped
 * transaction of the organization, which serializes the marking. Events that are neither opens nor clicks are skipped.
 */
export const markHits = Effect.fnUntraced(function* (
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
      select hit.*, campaign_id, case when is_open then opened_on else clicked_on end as date,
        case when is_open then unsuspected_opened_on else unsuspected_clicked_on end as unsuspected_date
      from ${toTable("hit", hits, { id: "text", recipientId: "text", isOpen: "bool", suspected: "bool" }, "place")}
      cross join lateral (
        select campaign_id, opened_on, unsuspected_opened_on, clicked_on, unsuspected_clicked_on from recipients
        where organization_id = ${organizationId} and recipients.id = recipient_id limit 1
      ) recipient
    ), marked as (
      update recipients set updated_at = ${stamp}::timestamptz, last_event_at = ${stamp}::timestamptz,
        opened_on = case when opened then today.date else opened_on end,
        unsuspected_opened_on = case when unsuspected_opened then today.date else unsuspected_opened_on end,
        clicked_on = case when clicked then today.date else clicked_on end,
        unsuspected_clicked_on = case when unsuspected_clicked then today.date else unsuspected_clicked_on end
      from (
        select recipient_id, bool_or(is_open) as opened, bool_or(is_open and not suspected) as unsuspected_opened,
          bool_or(not is_open) as clicked, bool_or(not is_open and not suspected) as unsuspected_clicked
        from hit group by recipient_id
      ) each, today
      where organization_id = ${organizationId} and recipients.id = each.recipient_id
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
    select ${firsts.columns} from hit cross join today`.pipe(firsts.decode)
  return new Map(rows.map((row) => [row.id, row]))
})
