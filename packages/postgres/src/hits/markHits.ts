import { isBotSuspected } from "@outreach/domain/digest/Digest"
import type { EventDraft } from "@outreach/domain/events/Event"
import { EventId } from "@outreach/domain/Identifier"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRows } from "../rowsOf.ts"

/** Whether an event is its recipient's first of its type on the date of the stamp: of all, and of those not suspected to be a bot's. */
const decodeFirsts = decodeRows({ id: EventId, first: Schema.Boolean, firstUnsuspected: Schema.Boolean })

/**
 * Marks the recipients who opened and clicked, and returns which of one organization's events are the first of their recipient, type and date; part of
 * the transaction that was stamped, so that nobody else marks for the organization at the same time. Events that are neither opens nor clicks are left out.
 */
export const markHits = Effect.fnUntraced(function* (events: ReadonlyArray<EventDraft>, stamp: CommitTimestamp) {
  const hits = events.filter(
    ({ type, recipientId }) =>
      recipientId !== null && (type === "outreach.email_opened" || type === "outreach.email_clicked"),
  )
  if (hits.length === 0) return new Map()
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`
    with today as (
      select (${stamp}::timestamptz at time zone 'UTC')::date as date
    ), hit as (
      select * from unnest(
        ${hits.map(({ id }) => id)}::text[], ${hits.map(({ organizationId }) => organizationId)}::text[],
        ${hits.map(({ recipientId }) => recipientId!)}::text[], ${hits.map(({ type }) => type)}::text[],
        ${hits.map(isBotSuspected)}::bool[]
      ) with ordinality as hit (id, organization_id, recipient_id, type, suspected, place)
    ), marked as (
      insert into unique_hits as mark (organization_id, recipient_id, type, date, unsuspected_date)
      select organization_id, recipient_id, type, today.date, max(today.date) filter (where not suspected)
      from hit, today group by organization_id, recipient_id, type, today.date
      on conflict (organization_id, recipient_id, type) do update
      set date = excluded.date, unsuspected_date = coalesce(excluded.unsuspected_date, mark.unsuspected_date)
    ), counted as (
      insert into campaign_count_changes (organization_id, campaign_id, subject, opened, clicked, unsuspected_opened, unsuspected_clicked)
      select organization_id, campaign_id, coalesce(test_subject, ''),
        count(*) filter (where is_first and type = 'outreach.email_opened'), count(*) filter (where is_first and type = 'outreach.email_clicked'),
        count(*) filter (where is_first_unsuspected and type = 'outreach.email_opened'),
        count(*) filter (where is_first_unsuspected and type = 'outreach.email_clicked')
      from (
        -- Their first ever, while the digest counts those of the date.
        select organization_id, recipient_id, type, bool_and(mark.date is null) as is_first,
          bool_or(not suspected) and bool_and(mark.unsuspected_date is null) as is_first_unsuspected
        from hit left join unique_hits mark using (organization_id, recipient_id, type)
        group by organization_id, recipient_id, type
      ) each
      cross join lateral (
        select campaign_id, test_subject from recipients
        where recipients.organization_id = each.organization_id and id = recipient_id limit 1
      ) recipient
      where is_first or is_first_unsuspected
      group by organization_id, campaign_id, test_subject
    )
    select hit.id,
      mark.date is distinct from today.date
        and row_number() over (partition by recipient_id, type order by place) = 1 as first,
      not suspected and mark.unsuspected_date is distinct from today.date
        and row_number() over (partition by recipient_id, type, suspected order by place) = 1 as "firstUnsuspected"
    from hit cross join today left join unique_hits mark using (organization_id, recipient_id, type)`.pipe(decodeFirsts)
  return new Map(rows.map((row) => [row.id, row]))
})
