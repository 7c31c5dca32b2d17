import { FunnelCounts } from "@outreach/domain/digest/Digest"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { DIGEST_COLUMNS } from "@outreach/postgres/digest/digestColumns"
import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"

/** A count of the digest that differs from the rows that it counts. */
interface Discrepancy {
  readonly programId: string
  /** The name of the count, such as `unique_opened`. */
  readonly count: string
  readonly kept: number
  readonly counted: number
}

/** The types of the events that the digest counts, including those with a recipient count. */
const DIGEST_TYPES = ["outreach.recipients_published", ...new Set(DIGEST_COLUMNS.map(({ type }) => type))]

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

/** Counts a UTC date of an organization again from its events and qualifications, and returns each count of its digest that differs. */
export const recountDigest = Effect.fnUntraced(function* (date: string, organizationId: OrganizationId) {
  const sql = yield* SqlClient.SqlClient
  const requested = sql`
    requested as (
      select ${date}::date as date, ${date}::timestamp at time zone 'UTC' as begins,
        ${date}::timestamp at time zone 'UTC' + interval '1 day' as ends
    )`
  const differences = sql`
    select program_id as "programId", key as count, coalesce(each_kept.value, 0) as kept, coalesce(each_counted.value, 0)::int as counted
    from each_counted full join each_kept using (program_id, key)
    where coalesce(each_kept.value, 0) <> coalesce(each_counted.value, 0)
    order by program_id, key`

  const outreach = yield* sql<Discrepancy>`
    with ${requested}, event as (
      select program_id, recipient_id, type,
        case type when 'outreach.recipients_published' then jsonb_array_length(body::jsonb->'data'->'recipients') end as recipients,
        not (body::jsonb->'data'->>'is_bot_suspected')::boolean as unsuspected
      from events, requested
      where organization_id = ${organizationId} and type = any (${DIGEST_TYPES}::text[]) and emitted_at >= begins and emitted_at < ends
    ), counted as (
      select program_id, coalesce(sum(recipients), 0) as recipients_published, ${sql.literal(COUNTS)} from event group by program_id
    ), kept as (
      select digest_outreach.* from digest_outreach join requested using (date) where organization_id = ${organizationId}
    ), each_counted as (
      select program_id, key, value::int from counted, jsonb_each_text(to_jsonb(counted) - 'program_id')
    ), each_kept as (
      select program_id, key, value::int from kept, jsonb_each_text(to_jsonb(kept) - '{organization_id,program_id,date}'::text[])
    )
    ${differences}`

  const funnel = yield* sql<Discrepancy>`
    with ${requested}, counted as (
      select program_id, stage, count(*) filter (where counted_at >= begins) as of_date, count(*) as total
      from qualifications, requested
      where organization_id = ${organizationId} and counted_at < ends
      group by program_id, stage
    ), each_counted as (
      select program_id, key, value
      from counted cross join lateral (values (stage, of_date), (stage || '_total', total)) as each (key, value)
    ), each_kept as (
      select program.id as program_id, key, value
      from programs program cross join requested
      cross join lateral (
        select * from digest_funnel funnel
        where funnel.organization_id = program.organization_id and program_id = program.id and funnel.date <= requested.date
        order by funnel.date desc limit 1
      ) kept
      cross join lateral (values
        ${sql.literal(STAGE_COUNTS)}
      ) as each (key, value)
      where program.organization_id = ${organizationId}
    )
    ${differences}`

  return [...outreach, ...funnel]
})
