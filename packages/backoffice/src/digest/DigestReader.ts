import { CalendarDate } from "@outreach/domain/digest/CalendarDate"
import { FunnelCounts, OutreachCounts, quotaStatus } from "@outreach/domain/digest/Digest"
import type { OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Program } from "@outreach/domain/programs/Program"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DatabaseService } from "@outreach/postgres/adapter"
import { funnelCounts, OUTREACH_COUNTS } from "@outreach/postgres/digest/digestColumns"
import { decodeRows, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema, Struct } from "effect"

/** One program's counts of one date: the funnel of the date, and the total up to its end. */
const DigestDay = Schema.Struct({
  date: CalendarDate,
  funnel: Schema.Struct({ date: FunnelCounts, cumulative: FunnelCounts }),
  outreach: OutreachCounts,
})
const days = rowsOf(DigestDay, {
  date: "to_char(day, 'YYYY-MM-DD')",
  funnel: `jsonb_build_object(
    'date', ${funnelCounts((stage) => `case when funnel.date = day then ${stage} end`)},
    'cumulative', ${funnelCounts((stage) => `${stage}_total`)})`,
  outreach: OUTREACH_COUNTS,
})

const decodeQuotas = decodeRows({
  ...Struct.pick(Program.fields, ["learnerTarget", "completerTarget"]),
  learners: Schema.Int,
  completers: Schema.Int,
  learnerReachedAt: Schema.NullOr(Timestamp),
  completerReachedAt: Schema.NullOr(Timestamp),
})

/** Reads the digest of many dates, at a cost that grows only with the dates. */
export class DigestReader extends DatabaseService<DigestReader>()("backoffice/digest/DigestReader", (sql) => ({
  /** Reads each date of a program from the first to the last, by look-ups in two primary keys. Future dates have zero counts. */
  days: (organizationId: OrganizationId, programId: ProgramId, first: CalendarDate, last: CalendarDate) =>
    sql`
      select ${days.columns} from (
        select ${first}::date + n as day from generate_series(0, ${last}::date - ${first}::date) n
      ) days
      left join digest_outreach outreach
        on outreach.organization_id = ${organizationId} and outreach.program_id = ${programId} and outreach.date = day
      left join lateral (
        select * from digest_funnel
        where organization_id = ${organizationId} and program_id = ${programId} and date <= day
        order by date desc limit 1
      ) funnel on true
      order by day`.pipe(days.decode),

  /** Reads a program's current counts towards its targets; undefined if the organization has no such program. */
  quotas: (organizationId: OrganizationId, programId: ProgramId) =>
    sql`
      select learner_target as "learnerTarget", completer_target as "completerTarget",
        coalesce(learner_qualified_total, 0) as learners, coalesce(completer_qualified_total, 0) as completers,
        learner_reached_at as "learnerReachedAt", completer_reached_at as "completerReachedAt"
      from programs program
      left join lateral (
        select * from digest_funnel where organization_id = program.organization_id and program_id = program.id
        order by date desc limit 1
      ) newest on true
      where program.organization_id = ${organizationId} and program.id = ${programId}`.pipe(
      decodeQuotas,
      Effect.map(
        ([row]) =>
          row && {
            learner_qualified: quotaStatus(row.learnerTarget, row.learners, row.learnerReachedAt),
            completer_qualified: quotaStatus(row.completerTarget, row.completers, row.completerReachedAt),
          },
      ),
    ),
})) {}
