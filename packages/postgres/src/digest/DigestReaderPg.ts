import type { FunnelCounts, OutreachCounts } from "@outreach/contract"
import { type DigestRecord, quotaStatus } from "@outreach/domain/digest/Digest"
import { DateInFuture, DigestReader } from "@outreach/domain/digest/DigestReader"
import type { Program } from "@outreach/domain/programs/Program"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { orDieAs } from "../DatabaseFailure.ts"
import { recountDigest } from "./recountDigest.ts"

/** Reads from PostgreSQL what `publishEvents` and `countFunnel` keep for the digest. */
export const DigestReaderPg = Layer.effect(
  DigestReader,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    return {
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
      }, orDieAs("DigestReader.read")),

      recount: Effect.fn("DigestReader.recount")(
        recountDigest,
        sql.withTransaction,
        Effect.provideService(SqlClient.SqlClient, sql),
        orDieAs("DigestReader.recount"),
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
