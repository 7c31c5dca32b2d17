import { latencyPercentile } from "@outreach/domain/deliveries/latencyBuckets"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"

/** Attempts at deliveries by their outcome, and deliveries that became dead letters. */
export interface Outcomes {
  readonly delivered: number
  /** Attempts that failed: with a status of 4xx, 5xx, or another one, or without a response. */
  readonly clientErrors: number
  readonly serverErrors: number
  readonly otherStatuses: number
  readonly noResponses: number
  readonly deadLetters: number
}

/** The outcomes of one step of a histogram. */
export interface OutcomesAt extends Outcomes {
  readonly at: Timestamp
}

/** The outcomes of a time, and below which latency half of its calls lay, and 99 of 100; null for no calls. */
export interface OutcomeSummary extends Outcomes {
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

/** Whose outcomes are meant, and of which time. */
export interface OutcomeFilter {
  readonly organizationId?: OrganizationId
  readonly endpointId?: EndpointId
  /** At or after, and before. */
  readonly from: Timestamp
  readonly to: Timestamp
}

/** Reads the outcomes of deliveries over time. */
export class DeliveryOutcomeReader extends Context.Service<DeliveryOutcomeReader>()(
  "backoffice/deliveries/DeliveryOutcomeReader",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sums = sql.literal(`
      coalesce(sum(delivered), 0)::int as delivered, coalesce(sum(client_errors), 0)::int as "clientErrors",
      coalesce(sum(server_errors), 0)::int as "serverErrors", coalesce(sum(other_statuses), 0)::int as "otherStatuses",
      coalesce(sum(no_responses), 0)::int as "noResponses", coalesce(sum(dead_letters), 0)::int as "deadLetters"`)
      /** By the key of an endpoint, or by the index on the time. */
      const rowsOf = ({ organizationId, endpointId, from, to }: OutcomeFilter) =>
        endpointId === undefined
          ? sql`
          select * from delivery_outcomes
          where seconds in (300, 3600) and at >= ${from}::timestamptz and at < ${to}::timestamptz
            and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})`
          : sql`
          select * from delivery_outcomes
          where endpoint_id = ${endpointId} and at >= ${from}::timestamptz and at < ${to}::timestamptz
            and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})`

      return {
        /**
         * Counts outcomes by steps of so many seconds, from midnight UTC on; a step without any is left out. What is older than
         * `FINE_OUTCOMES_DAYS` stands in the first step of its hour.
         */
        histogram: Effect.fn("DeliveryOutcomeReader.histogram")(
          (filter: OutcomeFilter, stepSeconds: number) => sql<OutcomesAt>`
          select date_bin(make_interval(secs => ${stepSeconds}::int), at, 'epoch') as at, ${sums}
          from (${rowsOf(filter)}) row group by 1 order by 1`,
          orDieAs("DeliveryOutcomeReader.histogram"),
        ),

        summary: Effect.fn("DeliveryOutcomeReader.summary")(function* (filter: OutcomeFilter) {
          const [row] = yield* sql<Outcomes & { latencies: ReadonlyArray<number> }>`
          with row as materialized (${rowsOf(filter)})
          select ${sums}, array(
            select sum(count)::int from row cross join unnest(latencies) with ordinality as each (count, bucket) group by bucket order by bucket
          ) as latencies
          from row`
          const { latencies, ...outcomes } = row!
          return {
            ...outcomes,
            p50Ms: latencyPercentile(latencies, 0.5),
            p99Ms: latencyPercentile(latencies, 0.99),
          } satisfies OutcomeSummary
        }, orDieAs("DeliveryOutcomeReader.summary")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(DeliveryOutcomeReader, DeliveryOutcomeReader.make)
}
