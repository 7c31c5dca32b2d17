import type { FunnelCounts, OutreachCounts } from "@outreach/contract"
import {
  addToFunnel,
  countByStage,
  type DigestRecord,
  type Funnel,
  type Qualification,
  quotaStatus,
} from "@outreach/domain/digest/Digest"
import { DateInFuture, DigestRepository } from "@outreach/domain/digest/DigestRepository"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import type { Program } from "@outreach/domain/programs/Program"
import type { Timestamp } from "@outreach/domain/Timestamp"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { recountDigest } from "./recountDigest.ts"

/** Keeps the digest in PostgreSQL; `publishEvents` counts its outreach. */
export const DigestRepositoryPg = Layer.effect(
  DigestRepository,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      countQualifications: Effect.fnUntraced(
        function* (organizationId, qualifications, at) {
          const column = (read: (qualification: (typeof qualifications)[number]) => string) => qualifications.map(read)
          const counted = yield* sql<Qualification>`
          with counted as (
          insert into qualifications (organization_id, program_id, stage, npi, event_id, counted_at)
          select distinct on (program_id, stage, npi) ${organizationId}, program_id, stage, npi, event_id, ${at}::timestamptz
          from unnest(
            ${column(({ programId }) => programId)}::text[], ${column(({ stage }) => stage)}::text[],
            ${column(({ npi }) => npi)}::text[], ${column(({ eventId }) => eventId)}::text[]
          ) with ordinality as qualification (program_id, stage, npi, event_id, position)
          order by program_id, stage, npi, position
          on conflict do nothing
          returning program_id, stage, npi
          ), campaign_counted as (
            -- In each campaign that had sent them an e-mail before.
            insert into campaign_count_changes (organization_id, campaign_id, subject, accounts, learners, completers)
            select ${organizationId}, campaign.id, coalesce(test_subject, ''), count(*) filter (where stage = 'account_created'),
              count(*) filter (where stage = 'learner_qualified'), count(*) filter (where stage = 'completer_qualified')
            from counted
            join campaigns campaign on campaign.organization_id = ${organizationId} and campaign.program_id = counted.program_id
            cross join lateral (
              select test_subject from recipients
              where organization_id = ${organizationId} and campaign_id = campaign.id and npi = counted.npi
                and sent_at <= ${at}::timestamptz limit 1
            ) recipient
            group by campaign.id, test_subject
          )
          select program_id as "programId", stage from counted`
          if (counted.length === 0) return []
          const programIds = new Set(counted.map(({ programId }) => programId))
          const funnels = yield* addToFunnels(organizationId, programIds, counted, at)
          return funnels.map(({ programId, completerReachedAt }) => ({ programId, reachedAt: completerReachedAt }))
        },
        Effect.provideService(SqlClient.SqlClient, sql),
        orDieAs("DigestRepository.countQualifications"),
      ),

      updateTargets: (organizationId, programId, at) =>
        addToFunnels(organizationId, [programId], [], at).pipe(
          Effect.asVoid,
          Effect.provideService(SqlClient.SqlClient, sql),
          orDieAs("DigestRepository.updateTargets"),
        ),

      findQualified: (organizationId, programId, npis, stages) =>
        sql<{ npi: string }>`
          select distinct npi from qualifications
          where organization_id = ${organizationId} and program_id = ${programId} and stage = any (${stages}::text[])
            and npi = any (${npis}::text[])`.pipe(
          Effect.map((rows) => new Set(rows.map(({ npi }) => npi))),
          orDieAs("DigestRepository.findQualified"),
        ),

      // One range of a primary key for the outreach of the date, and for each program a look-up of the newest funnel not after it.
      read: Effect.fnUntraced(function* (organizationId, date) {
        const rows = yield* sql<Row>`
          select asked.date > (statement_timestamp() at time zone 'UTC')::date as future,
            program.organization_id as "organizationId", program.id, slug, name, status,
            learner_target as "learnerTarget", completer_target as "completerTarget",
            created_at as "createdAt", updated_at as "updatedAt",
            jsonb_build_object(
              'account_created', coalesce(account_created, 0),
              'learner_qualified', coalesce(learner_qualified, 0),
              'completer_qualified', coalesce(completer_qualified, 0)) as "funnelOfDate",
            jsonb_build_object(
              'account_created', coalesce(account_created_total, 0),
              'learner_qualified', coalesce(learner_qualified_total, 0),
              'completer_qualified', coalesce(completer_qualified_total, 0)) as "funnelSoFar",
            learner_reached_at as "learnerReachedAt", completer_reached_at as "completerReachedAt",
            jsonb_build_object(
              'recipients_published', coalesce(recipients_published, 0),
              'sent', coalesce(sent, 0),
              'bounced', coalesce(bounced, 0),
              'opened', coalesce(opened, 0),
              'clicked', coalesce(clicked, 0),
              'unique_opened', coalesce(unique_opened, 0),
              'unique_clicked', coalesce(unique_clicked, 0),
              'without_suspected_bots', jsonb_build_object(
                'opened', coalesce(unsuspected_opened, 0),
                'clicked', coalesce(unsuspected_clicked, 0),
                'unique_opened', coalesce(unsuspected_unique_opened, 0),
                'unique_clicked', coalesce(unsuspected_unique_clicked, 0))) as outreach
          from (select ${date}::date as date) as asked
          left join programs program on program.organization_id = ${organizationId}
          left join digest_outreach outreach
            on outreach.organization_id = program.organization_id and outreach.program_id = program.id and outreach.date = asked.date
          left join lateral (
            select account_created_total, learner_qualified_total, completer_qualified_total, learner_reached_at, completer_reached_at,
              case when date = asked.date then account_created end as account_created,
              case when date = asked.date then learner_qualified end as learner_qualified,
              case when date = asked.date then completer_qualified end as completer_qualified
            from digest_funnel
            where organization_id = program.organization_id and program_id = program.id and date <= asked.date
            order by date desc limit 1
          ) funnel on true
          order by program.id`
        if (rows[0]!.future) return yield* new DateInFuture({ date })
        return rows.filter(({ id }) => id !== null).map(toRecord)
      }, orDieAs("DigestRepository.read")),

      recount: Effect.fn("DigestRepository.recount")(
        recountDigest,
        sql.withTransaction,
        Effect.provideService(SqlClient.SqlClient, sql),
        orDieAs("DigestRepository.recount"),
      ),
    }
  }),
)

interface Row extends Program {
  readonly future: boolean
  readonly funnelOfDate: FunnelCounts
  readonly funnelSoFar: FunnelCounts
  readonly learnerReachedAt: Timestamp | null
  readonly completerReachedAt: Timestamp | null
  readonly outreach: OutreachCounts
}

const toRecord = (row: Row): DigestRecord => {
  const { future, funnelOfDate, funnelSoFar, learnerReachedAt, completerReachedAt, outreach, ...program } = row
  return {
    program,
    funnel: { date: funnelOfDate, cumulative: funnelSoFar },
    outreach,
    quota: {
      learner_qualified: quotaStatus(program.learnerTarget, funnelSoFar.learner_qualified, learnerReachedAt),
      completer_qualified: quotaStatus(program.completerTarget, funnelSoFar.completer_qualified, completerReachedAt),
    },
  }
}

/**
 * Adds qualifications to the funnels of programs on the date of the timestamp, and returns the funnels. Without qualifications it
 * only judges anew which targets are reached, of programs that count somebody.
 *
 * The newest row of a program carries its totals on: timestamps commit in their order, so no earlier date is written after it.
 */
const addToFunnels = Effect.fnUntraced(function* (
  organizationId: OrganizationId,
  programIds: Iterable<ProgramId>,
  qualifications: ReadonlyArray<Qualification>,
  at: CommitTimestamp,
) {
  const sql = yield* SqlClient.SqlClient
  const before = yield* sql<Funnel>`
    select program.id as "programId", learner_target as "learnerTarget", completer_target as "completerTarget",
      jsonb_build_object(
        'account_created', coalesce(account_created_total, 0),
        'learner_qualified', coalesce(learner_qualified_total, 0),
        'completer_qualified', coalesce(completer_qualified_total, 0)) as totals,
      learner_reached_at as "learnerReachedAt", completer_reached_at as "completerReachedAt"
    from programs program
    left join lateral (
      select * from digest_funnel where organization_id = ${organizationId} and program_id = program.id order by date desc limit 1
    ) newest on true
    where program.organization_id = ${organizationId} and program.id = any (${[...programIds]}::text[])
      and (date is not null or ${qualifications.length > 0}::boolean)`
  if (before.length === 0) return []
  const changes = before.map((funnel) => {
    const added = countByStage(qualifications.filter(({ programId }) => programId === funnel.programId))
    return { added, funnel: addToFunnel(funnel, added, at) }
  })
  const column = <A>(read: (change: (typeof changes)[number]) => A) => changes.map(read)
  yield* sql`
    insert into digest_funnel as kept
      (organization_id, program_id, date, account_created, learner_qualified, completer_qualified,
        account_created_total, learner_qualified_total, completer_qualified_total, learner_reached_at, completer_reached_at)
    select ${organizationId}, program_id, (${at}::timestamptz at time zone 'UTC')::date, accounts, learners, completers,
      all_accounts, all_learners, all_completers, nullif(learner_reached_at, '')::timestamptz, nullif(completer_reached_at, '')::timestamptz
    from unnest(
      ${column(({ funnel }) => funnel.programId)}::text[],
      ${column(({ added }) => added.account_created)}::int[],
      ${column(({ added }) => added.learner_qualified)}::int[],
      ${column(({ added }) => added.completer_qualified)}::int[],
      ${column(({ funnel }) => funnel.totals.account_created)}::int[],
      ${column(({ funnel }) => funnel.totals.learner_qualified)}::int[],
      ${column(({ funnel }) => funnel.totals.completer_qualified)}::int[],
      ${column(({ funnel }) => funnel.learnerReachedAt ?? "")}::text[],
      ${column(({ funnel }) => funnel.completerReachedAt ?? "")}::text[]
    ) as change (program_id, accounts, learners, completers, all_accounts, all_learners, all_completers,
      learner_reached_at, completer_reached_at)
    on conflict (organization_id, program_id, date) do update set
      account_created = kept.account_created + excluded.account_created,
      learner_qualified = kept.learner_qualified + excluded.learner_qualified,
      completer_qualified = kept.completer_qualified + excluded.completer_qualified,
      account_created_total = excluded.account_created_total,
      learner_qualified_total = excluded.learner_qualified_total,
      completer_qualified_total = excluded.completer_qualified_total,
      learner_reached_at = excluded.learner_reached_at,
      completer_reached_at = excluded.completer_reached_at`
  return changes.map(({ funnel }) => funnel)
})
