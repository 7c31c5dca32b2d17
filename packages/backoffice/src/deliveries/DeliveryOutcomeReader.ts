import { latencyPercentile } from "@outreach/domain/deliveries/latencyBuckets"
import { EndpointId, type OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { columnOf, decodeRow, decodeRows, equal } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

/** Attempts by outcome, and new dead letters. */
const Outcomes = Schema.Struct({
  delivered: Schema.Int,
  /** Failed attempts: with status 4xx, 5xx or another one, or without a response. */
  clientErrors: Schema.Int,
  serverErrors: Schema.Int,
  otherStatuses: Schema.Int,
  noResponses: Schema.Int,
  deadLetters: Schema.Int,
})
type Outcomes = typeof Outcomes.Type

const attemptsOf = ({ delivered, clientErrors, serverErrors, otherStatuses, noResponses }: Outcomes): number =>
  delivered + clientErrors + serverErrors + otherStatuses + noResponses

const SUMS = Object.keys(Outcomes.fields)
  .map((name) => `coalesce(sum(${columnOf(name)}), 0)::int as "${name}"`)
  .join(", ")
const decodeHistogram = decodeRows({ ...Outcomes.fields, at: Timestamp })
const summary = { ...Outcomes.fields, latencies: Schema.Array(Schema.Int) }
const decodeSummary = decodeRow(summary)
const decodeSummaries = decodeRows({ ...summary, endpointId: EndpointId })

const withPercentiles = ({ latencies, ...outcomes }: Outcomes & { readonly latencies: ReadonlyArray<number> }) => ({
  ...outcomes,
  calls: attemptsOf(outcomes),
  p50Ms: latencyPercentile(latencies, 0.5),
  p99Ms: latencyPercentile(latencies, 0.99),
})

export interface OutcomeFilter {
  readonly organizationId?: OrganizationId
  readonly endpointId?: EndpointId
  /** At or after the first, and before the second. */
  readonly from: Timestamp
  readonly to: Timestamp
}

export const DeliveryOutcomeReader = reader("DeliveryOutcomeReader", (sql) => {
  const sums = sql.literal(SUMS)
  /** By an endpoint's key, or by the index on the time. */
  const rowsOf = ({ organizationId, endpointId, from, to }: OutcomeFilter) =>
    sql`
      select * from delivery_outcomes
      where at >= ${from}::timestamptz and at < ${to}::timestamptz
        and ${equal({ organization_id: organizationId, endpoint_id: endpointId })}
        and ${endpointId === undefined ? sql`seconds in (300, 3600)` : sql`true`}`

  return {
    /**
     * Counts outcomes by steps of `stepSeconds` from midnight UTC, without empty steps. Outcomes older than
     * `FINE_OUTCOMES_DAYS` are in the first step of their hour.
     */
    histogram: (filter: OutcomeFilter, stepSeconds: number) =>
      sql`
        select date_bin(make_interval(secs => ${stepSeconds}::int), at, 'epoch') as at, ${sums}
        from (${rowsOf(filter)}) row group by 1 order by 1`.pipe(decodeHistogram),

    /** Counts outcomes, and estimates the median and 99th percentile of the latency; null for no calls. */
    summary: (filter: OutcomeFilter) =>
      sql`
        with row as materialized (${rowsOf(filter)})
        select ${sums}, array(
          select sum(count)::int from row cross join unnest(latencies) with ordinality as each (count, bucket) group by bucket order by bucket
        ) as latencies
        from row`.pipe(decodeSummary, Effect.map(withPercentiles)),

    /** The same for each endpoint with calls. */
    summaries: Effect.fnUntraced(function* (filter: OutcomeFilter) {
      const rows = yield* sql`
        with row as materialized (${rowsOf(filter)}), latency as (
          select endpoint_id, bucket, sum(count)::int as count
          from row cross join unnest(latencies) with ordinality as each (count, bucket) group by endpoint_id, bucket
        )
        select endpoint_id as "endpointId", total.*, coalesce(latencies, '{}') as latencies
        from (select endpoint_id, ${sums} from row group by endpoint_id) total
        left join (select endpoint_id, array_agg(count order by bucket) as latencies from latency group by endpoint_id) each using (endpoint_id)`.pipe(
        decodeSummaries,
      )
      return new Map(rows.map(({ endpointId, ...summary }) => [endpointId, withPercentiles(summary)]))
    }),
  }
})
