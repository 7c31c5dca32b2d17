import type { Qualification } from "@outreach/domain/digest/Digest"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CommitTimestamp } from "../events/commitTimestamp.ts"

/**
 * Counts an organization's clinicians who reached a stage for the first time, on the date of the stamp; part of the transaction that was
 * stamped.
 *
 * The newest row of a program carries its totals on: stamps commit in their order, so no earlier date is written after it.
 */
export const countFunnel = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  qualifications: ReadonlyArray<Qualification>,
  stamp: CommitTimestamp,
) {
  if (qualifications.length === 0) return
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    with reached as (
      select program_id,
        count(*) filter (where stage = 'account_created') as accounts,
        count(*) filter (where stage = 'learner_qualified') as learners,
        count(*) filter (where stage = 'completer_qualified') as completers
      from unnest(
        ${qualifications.map(({ programId }) => programId)}::text[], ${qualifications.map(({ stage }) => stage)}::text[]
      ) as reached (program_id, stage)
      group by program_id
    ), total as (
      select reached.*, learner_target, completer_target,
        -- A target that was raised since has yet to be reached.
        case when learner_qualified_total >= learner_target then learner_reached_at end as learner_reached_at,
        case when completer_qualified_total >= completer_target then completer_reached_at end as completer_reached_at,
        accounts + coalesce(account_created_total, 0) as all_accounts,
        learners + coalesce(learner_qualified_total, 0) as all_learners,
        completers + coalesce(completer_qualified_total, 0) as all_completers
      from reached
      join programs program on program.organization_id = ${organizationId} and program.id = program_id
      left join lateral (
        select * from digest_funnel where organization_id = ${organizationId} and program_id = program.id order by date desc limit 1
      ) newest on true
    )
    insert into digest_funnel as kept
      (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
        account_created_total, learner_qualified_total, completer_qualified_total, learner_reached_at, completer_reached_at)
    select ${organizationId}, program_id, (${stamp}::timestamptz at time zone 'UTC')::date, accounts, learners, completers,
      all_accounts, all_learners, all_completers,
      case when all_learners >= learner_target then coalesce(learner_reached_at, ${stamp}::timestamptz) end,
      case when all_completers >= completer_target then coalesce(completer_reached_at, ${stamp}::timestamptz) end
    from total
    on conflict (organization_id, program_id, date) do update set
      account_created = kept.account_created + excluded.account_created,
      learner_qualified = kept.learner_qualified + excluded.learner_qualified,
      completer_qualified = kept.completer_qualified + excluded.completer_qualified,
      account_created_total = excluded.account_created_total,
      learner_qualified_total = excluded.learner_qualified_total,
      completer_qualified_total = excluded.completer_qualified_total,
      learner_reached_at = excluded.learner_reached_at,
      completer_reached_at = excluded.completer_reached_at`
})
