import type { FunnelCounts, OutreachCounts } from "@outreach/contract"
import type { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { FORECAST_DAYS, type QuotaProgress } from "@outreach/domain/digest/forecastQuota"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** One program's counts of one date. */
export interface DigestDay {
  readonly date: CalendarDate
  /** For the date, and up to its end. */
  readonly funnel: { readonly date: FunnelCounts; readonly cumulative: FunnelCounts }
  readonly outreach: OutreachCounts
}

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
export class DigestReader extends Context.Service<DigestReader>()("backoffice/digest/DigestReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
      /** Reads each date of a program from the first to the last, by look-ups in two primary keys. Dates to come count nothing. */
      days: Effect.fn("DigestReader.days")(
        (
          organizationId: OrganizationId,
          programId: ProgramId,
          first: CalendarDate,
          last: CalendarDate,
        ) => sql<DigestDay>`
          select to_char(day, 'YYYY-MM-DD') as date,
            jsonb_build_object(
              'date', jsonb_build_object(
                'account_created', case when funnel.date = day then account_created else 0 end,
                'learner_qualified', case when funnel.date = day then learner_qualified else 0 end,
                'completer_qualified', case when funnel.date = day then completer_qualified else 0 end),
              'cumulative', jsonb_build_object(
                'account_created', coalesce(account_created_total, 0),
                'learner_qualified', coalesce(learner_qualified_total, 0),
                'completer_qualified', coalesce(completer_qualified_total, 0))) as funnel,
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
          order by day`,
        orDieAs("DigestReader.days"),
      ),

      /** Reads how far a program is today; undefined if the organization has no such program. */
      progress: Effect.fn("DigestReader.progress")(function* (organizationId: OrganizationId, programId: ProgramId) {
        const rows = yield* sql<ProgressRow>`
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
          where program.organization_id = ${organizationId} and program.id = ${programId}`
        return rows[0] && toProgress(rows[0])
      }, orDieAs("DigestReader.progress")),
    }
  }),
}) {
  static readonly layer = Layer.effect(DigestReader, DigestReader.make)
}

interface ProgressRow {
  readonly today: CalendarDate
  readonly learnerTarget: number | null
  readonly completerTarget: number | null
  readonly learners: number
  readonly completers: number
  readonly learnerReachedAt: Timestamp | null
  readonly completerReachedAt: Timestamp | null
  readonly learnerGains: ReadonlyArray<number>
  readonly completerGains: ReadonlyArray<number>
  readonly campaignsEnd: CalendarDate | null
}

const toProgress = (row: ProgressRow): ProgramProgress => ({
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
