import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import type { SqlClient } from "effect/sql"
import { failureGroupsOf } from "./failureGroupsOf.ts"

/** Replaces the attempts of dead letters by those in `rows`, and moves them to the groups of failures of the new attempts. */
export const replaceAttempts = (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  rows: ReadonlyArray<{
    readonly id: DeliveryId
    readonly endpointId: EndpointId
    readonly attempts: ReadonlyArray<Attempt>
  }>,
) => {
  const groups = rows.map(({ endpointId, attempts }) => failureGroupsOf(endpointId, attempts.at(-1)))
  return sql`
    with held as materialized (
      select dead.*, given.attempts as kept_attempts, choose_failure_group(organization_id, endpoint_id, groups, earlier) as failure_group
      from (
        select id, attempts, groups,
          dense_rank() over (partition by groups->'overflow'->>'id' order by groups->'exact'->>'id') - 1 as earlier
        from unnest(
          ${rows.map(({ id }) => id)}::text[], ${rows.map(({ attempts }) => JSON.stringify(attempts))}::text[],
          ${groups.map((each) => JSON.stringify(each))}::text[]::jsonb[]
        ) as each (id, attempts, groups)
      ) given
      join dead_letters dead on organization_id = ${organizationId} and dead.id = given.id
      order by dead.id for update of dead
    ), changed as (
      update dead_letters dead set attempts = kept_attempts::jsonb, group_id = failure_group->>'id'
      from held where dead.organization_id = held.organization_id and dead.id = held.id
    )
    select count_failures(jsonb_agg(change)) from (
      select organization_id, group_id, finished_at as at, reason, -(replayed_as is null)::int as opened, -1 as stored,
        null::jsonb as failure_group
      from held
      union all
      select organization_id, failure_group->>'id', finished_at, reason, (replayed_as is null)::int, 1, failure_group from held
    ) change`
}
