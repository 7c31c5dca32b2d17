import { latencyPercentile } from "@outreach/domain/deliveries/latencyBuckets"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { columnOf, decodeRows, equal, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Record, Schema, Struct } from "effect"
import type { DeliveryFilter } from "./DeliveryFilter.ts"

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

const SUMS = Record.map(Outcomes.fields, (_, name) => `coalesce(sum(${columnOf(name)}), 0)::int`)
const { columns: sums } = rowsOf(Outcomes, SUMS)
const decodeHistogram = decodeRows({ ...Outcomes.fields, at: Timestamp })
const decodeSummaries = decodeRows({ ...Outcomes.fields, endpoint: Schema.String, latencies: Schema.Array(Schema.Int) })

const withPercentiles = ({ latencies, ...outcomes }: Outcomes & { readonly latencies: ReadonlyArray<number> }) => ({
  ...outcomes,
  calls: Object.values(Struct.omit(outcomes, ["deadLetters"])).reduce((sum, count) => sum + count),
  p50Ms: latencyPercentile(latencies, 0.5),
  p99Ms: latencyPercentile(latencies, 0.99),
})
const NO_CALLS = withPercentiles({ ...Record.map(Outcomes.fields, () => 0), latencies: [] })

/** At or after `from`, and before `to`. */
type OutcomeFilter = Pick<DeliveryFilter, "organizationId" | "endpointId"> & Readonly<Record<"from" | "to", Timestamp>>

export const DeliveryOutcomeReader = reader("DeliveryOutcomeReader", (sql) => {
  /** By an endpoint's key, or by the index on the time. */
  const outcomesOf = ({ organizationId, endpointId, from, to }: OutcomeFilter) =>
    sql`
      select * from delivery_outcomes
      where at >= ${from}::timestamptz and at < ${to}::timestamptz
        and ${equal({ organization_id: organizationId, endpoint_id: endpointId })}
        and ${endpointId === undefined ? sql`seconds in (300, 3600)` : sql`true`}`

  const readSummaries = (filter: OutcomeFilter, endpoint: "endpoint_id" | "''") =>
    sql`
      with row as materialized (select ${sql.literal(endpoint)} as endpoint, * from (${outcomesOf(filter)}) outcome)
      select total.*, coalesce(latencies, '{}') as latencies
      from (select endpoint, ${sums} from row group by endpoint) total
      left join (
        select endpoint, array_agg(count order by bucket) as latencies from (
          select endpoint, bucket, sum(count)::int as count
          from row cross join unnest(latencies) with ordinality as each (count, bucket) group by endpoint, bucket
        ) latency
        group by endpoint
      ) each using (endpoint)`.pipe(
      decodeSummaries,
      Effect.map((rows) => new Map(rows.map(({ endpoint, ...row }) => [endpoint, withPercentiles(row)]))),
    )

  return {
    /**
     * Counts outcomes by steps of `stepSeconds` from midnight UTC, without empty steps. Outcomes older than
     * `FINE_OUTCOMES_DAYS` are in the first step of their hour.
     */
    histogram: (filter: OutcomeFilter, stepSeconds: number) =>
      sql`
        select date_bin(make_interval(secs => ${stepSeconds}::int), at, 'epoch') as at, ${sums}
        from (${outcomesOf(filter)}) row group by 1 order by 1`.pipe(decodeHistogram),

    /** Counts outcomes, and estimates the median and 99th percentile of the latency; null for no calls. */
    summary: (filter: OutcomeFilter) => Effect.map(readSummaries(filter, "''"), (found) => found.get("") ?? NO_CALLS),

    /** The same for each endpoint with calls. */
    summaries: (filter: OutcomeFilter) => readSummaries(filter, "endpoint_id"),
  }
})
