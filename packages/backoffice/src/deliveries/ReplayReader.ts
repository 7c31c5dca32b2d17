import type { LogRange } from "@outreach/domain/deliveries/Replays"
import type { OrganizationId, ReplayId } from "@outreach/domain/Identifier"
import { reader } from "@outreach/postgres/adapter"
import { assertEndpointPresent } from "@outreach/postgres/deliveries/assertEndpointPresent"
import { decodeReplays, inRange, rangeOf, replayColumns } from "@outreach/postgres/deliveries/replayRows"
import { decodeCount, keyset } from "@outreach/postgres/rowsOf"
import { Effect } from "effect"

const newestFirst = keyset({ id: "id" }, "desc")

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

  countInLog: Effect.fnUntraced(function* (range: LogRange) {
    yield* assertEndpointPresent(sql, range.endpointId)
    return yield* sql`
      with job as materialized (${rangeOf(sql, range)})
      select count(*)::int as count from job join events on ${inRange(sql, sql`job`)}`.pipe(decodeCount)
  }),
}))
