import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { FunnelCounts } from "@outreach/domain/digest/Digest"
import { Discrepancy } from "@outreach/domain/digest/DigestRepository"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { LIFT_TIME_LIMIT } from "@outreach/postgres-connection/sessionSettings"
import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { decodeRows } from "../rowsOf.ts"
import { DIGEST_COLUMNS, DIGEST_TYPES } from "./digestColumns.ts"

const decodeDiscrepancies = decodeRows(Discrepancy.fields)

const COUNTS = DIGEST_COLUMNS.map(({ name, type, isUnique, isUnsuspected }) => {
  const counted = isUnique ? "distinct recipient_id" : "*"
  return `count(${counted}) filter (where type = '${type}'${isUnsuspected ? " and unsuspected" : ""}) as ${name}`
}).join(", ")

const STAGE_COUNTS = Struct.keys(FunnelCounts.fields)
  .map(
    (stage) =>
      `('${stage}', case when kept.date = requested.date then ${stage} else 0 end), ('${stage}_total', ${stage}_total)`,
  )
  .join(", ")

/**
 * Recounts a UTC date from the events and the qualifications, and returns the counts that differ from the stored ones.
 *
 * The outreach is skipped if the date's events were deleted. Each half is one statement, so both sides of a comparison see the same commits.
 */
export const recountDigest = Effect.fnUntraced(function* (date: CalendarDate, organizationId?: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const only = organizationId ?? null
  // Without a time limit, because every event of the date is read.
  yield* sql.unsafe(LIFT_TIME_LIMIT)

  const requested = sql`
    requested as (
      select ${date}::date as date, ${date}::timestamp at time zone 'UTC' as begins,
        ${date}::timestamp at time zone 'UTC' + interval '1 day' as ends
    )`
  const differences = sql`
    select organization_id as "organizationId", program_id as "programId", ${date} as date, key as count,
      coalesce(each_kept.value, 0) as kept, coalesce(each_counted.value, 0)::int as counted
    from each_counted full join each_kept using (organization_id, program_id, key)
    where coalesce(each_kept.value, 0) <> coalesce(each_counted.value, 0)
    order by organization_id, program_id, key`

  const outreach = yield* sql`
    with ${requested}, event as (
      select organization.id as organization_id, found.*, wanted.type
      from organizations organization cross join requested
      cross join unnest(${DIGEST_TYPES}::text[]) as wanted (type)
      cross join lateral (
        select program_id, recipient_id,
          case wanted.type when 'outreach.recipients_published' then jsonb_array_length(body::jsonb->'data'->'recipients') end
            as recipients,
          not (body::jsonb->'data'->>'is_bot_suspected')::boolean as unsuspected
        from events
        where requested.begins >= coalesce(events_kept_from(), '-infinity') and events.organization_id = organization.id and events.type = wanted.type
          and emitted_at >= requested.begins and emitted_at < requested.ends
      ) found
      where ${only}::text is null or organization.id = ${only}
    ), counted as (
      select organization_id, program_id, coalesce(sum(recipients), 0) as recipients_published, ${sql.literal(COUNTS)}
      from event group by organization_id, program_id
    ), kept as (
      select digest_outreach.* from digest_outreach join requested using (date)
      where begins >= coalesce(events_kept_from(), '-infinity') and (${only}::text is null or organization_id = ${only})
    ), each_counted as (
      select organization_id, program_id, key, value::int
      from counted, jsonb_each_text(to_jsonb(counted) - '{organization_id,program_id}'::text[])
    ), each_kept as (
      select organization_id, program_id, key, value::int
      from kept, jsonb_each_text(to_jsonb(kept) - '{organization_id,program_id,date}'::text[])
    )
    ${differences}`.pipe(decodeDiscrepancies)

  const funnel = yield* sql`
    with ${requested}, counted as (
      select organization_id, program_id, stage,
        count(*) filter (where counted_at >= begins) as of_date, count(*) as total
      from qualifications, requested
      where counted_at < ends and (${only}::text is null or organization_id = ${only})
      group by organization_id, program_id, stage
    ), each_counted as (
      select organization_id, program_id, key, value
      from counted cross join lateral (values (stage, of_date), (stage || '_total', total)) as each (key, value)
    ), each_kept as (
      select program.organization_id, program.id as program_id, key, value
      from programs program cross join requested
      cross join lateral (
        select * from digest_funnel funnel
        where funnel.organization_id = program.organization_id and program_id = program.id and funnel.date <= requested.date
        order by funnel.date desc limit 1
      ) kept
      cross join lateral (values
        ${sql.literal(STAGE_COUNTS)}
      ) as each (key, value)
      where ${only}::text is null or program.organization_id = ${only}
    )
    ${differences}`.pipe(decodeDiscrepancies)

  return [...outreach, ...funnel]
})
