import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { ReadDate } from "@outreach/domain/digest/DateRange"
import { FunnelCounts, OutreachCounts } from "@outreach/domain/digest/Digest"
import { FORECAST_DAYS, type QuotaProgress } from "@outreach/domain/digest/forecastQuota"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Program } from "@outreach/domain/programs/Program"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { funnelCounts, OUTREACH_COUNTS } from "@outreach/postgres/digest/digestColumns"
import { decodeRows } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

/** One program's counts of one date: its funnel for the date, and up to its end. */
const DigestDay = Schema.Struct({
  date: ReadDate,
  funnel: Schema.Struct({ date: FunnelCounts, cumulative: FunnelCounts }),
  outreach: OutreachCounts,
})
export type DigestDay = typeof DigestDay.Type
const decodeDays = decodeRows(DigestDay.fields)

const Progress = Schema.Struct({
  today: ReadDate,
  learnerTarget: Program.fields.learnerTarget,
  completerTarget: Program.fields.completerTarget,
  learners: Schema.Int,
  completers: Schema.Int,
  learnerReachedAt: Schema.NullOr(Timestamp),
  completerReachedAt: Schema.NullOr(Timestamp),
  learnerGains: Schema.Array(Schema.Int),
  completerGains: Schema.Array(Schema.Int),
  campaignsEnd: Schema.NullOr(ReadDate),
})
const decodeProgress = decodeRows(Progress.fields)

/** How far one stage of a program is, and when it came to its target. */
export interface StageProgress extends Omit<QuotaProgress, "by"> {
  readonly reachedAt: Timestamp | null
}

/** How far a program is from its targets today, and until when its campaigns send. */
export interface ProgramProgress {
  readonly learner_qualified: StageProgress
  readonly completer_qualified: StageProgress
  /** The last date of the windows of campaigns that are not over; null without such a campaign. */
  readonly campaignsEnd: CalendarDate | null
}

/** Reads the digest of many dates; the cost grows with the dates alone. */
export class DigestReader extends DatabaseService<DigestReader>()("backoffice/digest/DigestReader", (sql) => ({
  /** Reads each date of a program from the first to the last, by look-ups in two primary keys. Dates to come count nothing. */
  days: (organizationId: OrganizationId, programId: ProgramId, first: CalendarDate, last: CalendarDate) =>
    sql`
      select to_char(day, 'YYYY-MM-DD') as date,
        jsonb_build_object(
          'date', ${funnelCounts((stage) => `case when funnel.date = day then ${stage} end`)},
          'cumulative', ${funnelCounts((stage) => `${stage}_total`)}) as funnel,
        ${OUTREACH_COUNTS} as outreach
      from (
        select ${first}::date + n as day from generate_series(0, ${last}::date - ${first}::date) n
      ) days
      left join digest_outreach outreach
        on outreach.organization_id = ${organizationId} and outreach.program_id = ${programId} and outreach.date = day
      left join lateral (
        select * from digest_funnel
        where organization_id = ${organizationId} and program_id = ${programId} and date <= day
        order by date desc limit 1
      ) funnel on true
      order by day`.pipe(decodeDays),

  /** Reads how far a program is today; undefined if the organization has no such program. */
  progress: Effect.fnUntraced(function* (organizationId: OrganizationId, programId: ProgramId) {
    const rows = yield* sql`
      select to_char(today, 'YYYY-MM-DD') as today, learner_target as "learnerTarget", completer_target as "completerTarget",
        coalesce(learner_qualified_total, 0) as learners, coalesce(completer_qualified_total, 0) as completers,
        learner_reached_at as "learnerReachedAt", completer_reached_at as "completerReachedAt",
        coalesce("learnerGains", '{}') as "learnerGains", coalesce("completerGains", '{}') as "completerGains",
        to_char((
          select max(window_end) from campaigns
          where organization_id = program.organization_id and program_id = program.id
            and status not in ('draft', 'completed', 'cancelled') and window_end > statement_timestamp()
        ) at time zone 'UTC', 'YYYY-MM-DD') as "campaignsEnd"
      from programs program
      cross join (select (statement_timestamp() at time zone 'UTC')::date as today) as now_at
      left join lateral (
        select * from digest_funnel where organization_id = program.organization_id and program_id = program.id
        order by date desc limit 1
      ) newest on true
      left join lateral (
        select array_agg(coalesce(learner_qualified, 0) order by day) as "learnerGains",
          array_agg(coalesce(completer_qualified, 0) order by day) as "completerGains"
        from (select today - n as day from generate_series(1, ${FORECAST_DAYS}::int) n) days
        left join digest_funnel counted
          on counted.organization_id = program.organization_id and counted.program_id = program.id and counted.date = day
        where day >= (
          select min(date) from digest_funnel where organization_id = program.organization_id and program_id = program.id)
      ) gains on true
      where program.organization_id = ${organizationId} and program.id = ${programId}`.pipe(decodeProgress)
    return rows[0] && toProgress(rows[0])
  }),
})) {}

const toProgress = (row: typeof Progress.Type): ProgramProgress => ({
  learner_qualified: {
    target: row.learnerTarget,
    count: row.learners,
    gains: row.learnerGains,
    today: row.today,
    reachedAt: row.learnerReachedAt,
  },
  completer_qualified: {
    target: row.completerTarget,
    count: row.completers,
    gains: row.completerGains,
    today: row.today,
    reachedAt: row.completerReachedAt,
  },
  campaignsEnd: row.campaignsEnd,
})
