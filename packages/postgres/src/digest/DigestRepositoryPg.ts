import {
  addToFunnel,
  countByStage,
  DateInFuture,
  DigestRepository,
  Funnel,
  FunnelCounts,
  type FunnelStage,
  OutreachCounts,
  Qualification,
  quotaStatus,
} from "@outreach/domain/digest/Digest"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Program } from "@outreach/domain/programs/Program"
import { Timestamp } from "@outreach/domain/Timestamp"
import type { CommitTimestamp } from "@outreach/domain/Transaction"
import { Effect, Schema, Struct } from "effect"
import type { SqlClient } from "effect/sql"
import { adapter } from "../adapter.ts"
import { decodeColumn, decodeIsTrue, hidden, rowsOf, toTable } from "../rowsOf.ts"
import { funnelCounts, OUTREACH_COUNTS } from "./digestColumns.ts"

const countedRows = rowsOf(Qualification)
const decodeNpis = decodeColumn({ npi: Schema.String })
const totals = funnelCounts((stage) => `${stage}_total`)
const records = rowsOf(
  Schema.Struct({
    ...Program.fields,
    funnelOfDate: FunnelCounts,
    funnelSoFar: FunnelCounts,
    learnerReachedAt: Schema.NullOr(Timestamp),
    completerReachedAt: Schema.NullOr(Timestamp),
    outreach: OutreachCounts,
  }),
  {
    organizationId: "program.organization_id",
    funnelOfDate: funnelCounts((stage) => `case when funnel.date = day.date then ${stage} end`),
    funnelSoFar: totals,
    outreach: OUTREACH_COUNTS,
  },
)
const funnelRows = rowsOf(Funnel, { programId: "program.id", totals })

/** Stores the digest in PostgreSQL. `EventPublisher` counts the outreach. */
export const DigestRepositoryPg = adapter(DigestRepository, (sql) => ({
  countQualifications: Effect.fnUntraced(function* (organizationId, qualifications, at) {
    const counted = yield* sql`
          with counted as (
          insert into qualifications (organization_id, program_id, stage, npi, event_id, counted_at)
          select distinct on (program_id, stage, npi) ${organizationId}, program_id, stage, npi, event_id, ${at}::timestamptz
          from ${toTable("qualification", qualifications, { programId: "text", stage: "text", npi: "text", eventId: "text" }, { position: "position" })}
          order by program_id, stage, npi, position
          on conflict do nothing
          returning program_id, stage, npi
          ), campaign_counted as (
            -- Counted in each campaign that had already sent the clinician an e-mail.
            insert into campaign_count_changes (organization_id, campaign_id, hour, accounts, learners, completers)
            select ${organizationId}, campaign.id, date_trunc('hour', ${at}::timestamptz, 'UTC'),
              count(*) filter (where stage = 'account_created'), count(*) filter (where stage = 'learner_qualified'),
              count(*) filter (where stage = 'completer_qualified')
            from counted
            join campaigns campaign on campaign.organization_id = ${organizationId} and campaign.program_id = counted.program_id
            cross join lateral (
              select from recipient_keys key
              join recipients recipient on recipient.organization_id = key.organization_id and recipient.id = recipient_id
              where key.organization_id = ${hidden(organizationId)} and key.campaign_id = campaign.id and key.npi = counted.npi
                and sent_at <= ${at}::timestamptz limit 1
            ) recipient
            group by campaign.id
          )
          select ${countedRows.columns} from counted`.pipe(countedRows.decode)
    if (counted.length === 0) return []
    const programIds = new Set(counted.map(({ programId }) => programId))
    const funnels = yield* addToFunnels(sql, organizationId, programIds, counted, at)
    return funnels.map(({ programId, completerReachedAt }) => ({ programId, reachedAt: completerReachedAt }))
  }),

  findQualified: (organizationId, programId, npis, stages) =>
    sql`
          select distinct npi from qualifications
          where organization_id = ${organizationId} and program_id = ${programId} and stage = any (${stages}::text[])
            and npi = any (${npis}::text[])`.pipe(
      decodeNpis,
      Effect.map((found) => new Set(found)),
    ),

  // Reads one range of a primary key for the outreach of the date, and for each program the newest funnel up to that date.
  read: Effect.fnUntraced(function* (organizationId, date) {
    const rows = yield* sql`
          select ${records.columns} from (select ${date}::date as date) as day
          join programs program on program.organization_id = ${organizationId}
          left join digest_outreach outreach
            on outreach.organization_id = program.organization_id and outreach.program_id = program.id and outreach.date = day.date
          left join lateral (
            select * from digest_funnel
            where organization_id = program.organization_id and program_id = program.id and date <= day.date
            order by date desc limit 1
          ) funnel on true
          where day.date <= (statement_timestamp() at time zone 'UTC')::date
          order by program.id`.pipe(records.decode)
    if (rows.length === 0) {
      const isFuture = yield* sql`
            select ${date}::date > (statement_timestamp() at time zone 'UTC')::date as is_true`.pipe(decodeIsTrue)
      if (isFuture) return yield* new DateInFuture({ date })
    }
    return rows.map(({ funnelOfDate, funnelSoFar, learnerReachedAt, completerReachedAt, outreach, ...program }) => ({
      program,
      funnel: { date: funnelOfDate, cumulative: funnelSoFar },
      outreach,
      quota: {
        learner_qualified: quotaStatus(program.learnerTarget, funnelSoFar.learner_qualified, learnerReachedAt),
        completer_qualified: quotaStatus(program.completerTarget, funnelSoFar.completer_qualified, completerReachedAt),
      },
    }))
  }),
}))

/**
 * Adds qualifications to the funnels of programs on the date of the timestamp, and returns the funnels. Without qualifications it
 * only re-evaluates the reached targets of programs that have counts.
 *
 * A program's newest row contains its running totals. Timestamps commit in order, so an earlier date is never written later.
 */
export const addToFunnels = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  programIds: Iterable<ProgramId>,
  qualifications: ReadonlyArray<Qualification>,
  at: CommitTimestamp,
) {
  const before = yield* sql`
    select ${funnelRows.columns} from programs program
    left join lateral (
      select * from digest_funnel where organization_id = ${organizationId} and program_id = program.id order by date desc limit 1
    ) newest on true
    where program.organization_id = ${organizationId} and program.id = any (${[...programIds]}::text[])
      and (date is not null or ${qualifications.length > 0}::boolean)`.pipe(funnelRows.decode)
  if (before.length === 0) return []
  const changes = before.map((funnel) => {
    const added = countByStage(qualifications.filter(({ programId }) => programId === funnel.programId))
    return { ...added, ...addToFunnel(funnel, added, at) }
  })
  const list = (write: (stage: FunnelStage) => string) =>
    sql.literal(Struct.keys(FunnelCounts.fields).map(write).join(", "))
  yield* sql`
    insert into digest_funnel as kept (
      organization_id, program_id, date, ${list((stage) => `${stage}, ${stage}_total`)}, learner_reached_at, completer_reached_at)
    select ${organizationId}, "programId", (${at}::timestamptz at time zone 'UTC')::date,
      ${list((stage) => `${stage}, (totals->>'${stage}')::int`)}, "learnerReachedAt", "completerReachedAt"
    from jsonb_to_recordset(${JSON.stringify(changes)}::jsonb) as change (
      "programId" text, ${list((stage) => `${stage} int`)}, totals jsonb, "learnerReachedAt" timestamptz, "completerReachedAt" timestamptz)
    on conflict (organization_id, program_id, date) do update set
      ${list((stage) => `${stage} = kept.${stage} + excluded.${stage}, ${stage}_total = excluded.${stage}_total`)},
      learner_reached_at = excluded.learner_reached_at, completer_reached_at = excluded.completer_reached_at`
  return changes
})
