import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { LogRange, WaitingDeliveries } from "@outreach/domain/deliveries/Replays"
import type { EndpointId, OrganizationId, ReplayId } from "@outreach/domain/Identifier"
import { reader } from "@outreach/postgres/adapter"
import { assertEndpointPresent } from "@outreach/postgres/deliveries/assertEndpointPresent"
import { decodeReplays, inRange, rangeOf, replayColumns } from "@outreach/postgres/deliveries/replayRows"
import { decodeCount, keyset, only, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"

const newestFirst = keyset({ id: "id" }, "desc")
const waitingCounts = rowsOf(Schema.Struct({ count: Schema.Int, isWhole: Schema.Boolean }), {
  count: "(count(*) filter (where is_selected))::int",
  isWhole: `count(*) < ${COUNT_CAP}`,
})

export const ReplayReader = reader("ReplayReader", (sql) => ({
  /** Lists jobs, newest first. */
  list: (
    { organizationId }: { readonly organizationId?: OrganizationId },
    limit: number,
    after: { readonly id: ReplayId } | null = null,
  ) =>
    sql`
      select ${replayColumns} from replay_jobs job
      where (${organizationId ?? null}::text is null or ${organizationId ?? null} = coalesce(
        organization_id, (select organization_id from webhook_endpoints where id = job.endpoint_id)))
        and ${newestFirst.after(after)}
      order by ${newestFirst.order} limit ${limit}`.pipe(decodeReplays),

  /** Lists the unfinished jobs for one endpoint, newest first. */
  running: (endpointId: EndpointId, limit: number) =>
    sql`
      select ${replayColumns} from replay_jobs
      where endpoint_id = ${endpointId} and finished_at is null and cancelled_at is null
      order by id desc limit ${limit}`.pipe(decodeReplays),

  /** Counts the deliveries that wait for their next attempt, among the first `COUNT_CAP` of the endpoint; `isWhole` if it has no more. */
  countWaiting: ({ endpointId, groupId }: WaitingDeliveries) =>
    sql`
      select ${waitingCounts.columns} from (
        select ${groupId ?? null}::text is null or group_id = ${groupId ?? null} as is_selected
        from waiting_after(${endpointId}, statement_timestamp(), '', 'infinity', ${COUNT_CAP}::int)
      ) waiting`.pipe(waitingCounts.decode, only),

  countInLog: Effect.fnUntraced(function* (range: LogRange) {
    yield* assertEndpointPresent(sql, range.endpointId)
    return yield* sql`
      with job as materialized (${rangeOf(sql, range)})
      select count(*)::int as count from job join events on ${inRange(sql, sql`job`)}`.pipe(decodeCount)
  }),
}))
