import type { DeadLetterCursor, DeadLetterFilter, PurgeFilter } from "@outreach/domain/deliveries/DeadLetters"
import { DEAD_LETTER_REASONS, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { EndpointId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { attemptsMade } from "@outreach/postgres/deliveries/attemptsMade"
import { isDeadLetterOf, isPurged } from "@outreach/postgres/deliveries/deadLetterConditions"
import { allOf, decodeRow, equal, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Schema } from "effect"
import type { Statement } from "effect/sql"
import type { Direction } from "../operations/List.ts"
import { createdAtOf, lastAttemptOf } from "./DeliveryReader.ts"

const DeadLetterCount = Schema.Struct({
  endpointId: EndpointId,
  reason: Schema.Literals(DEAD_LETTER_REASONS),
  count: Schema.Int,
})
export type DeadLetterCount = typeof DeadLetterCount.Type

/** Reports whether the failure groups have the counts of a filter's dead letters. */
export const isGrouped = ({ type, from, to }: DeadLetterFilter): boolean =>
  type === undefined && from === undefined && to === undefined

const { columns, decode } = rowsOf(DeliverySummary, {
  organizationId: "dead.organization_id",
  id: "dead.id",
  eventType: "event.type",
  state: "reason",
  attempts: attemptsMade("attempts"),
  ...lastAttemptOf("attempts->-1"),
  dueAt: "null",
  createdAt: createdAtOf("dead"),
})
const counts = rowsOf(DeadLetterCount, { count: "sum(open)::int" })
const decodeMissed = decodeRow({ count: Schema.Int, since: Schema.NullOr(Timestamp) })
const decodeOld = decodeRow({ before: Timestamp, count: Schema.Int, replayed: Schema.Int })

/** Reads dead letters that weren't replayed. */
export const DeadLetterReader = reader("DeadLetterReader", (sql) => {
  const openOneByOne = ({ type, ...filter }: DeadLetterFilter, maxLooked: number | null) => sql`
    select endpoint_id, reason, 1 as open from (
      select * from dead_letters dead where replayed_as is null and ${isDeadLetterOf(sql, filter)} limit ${maxLooked}::int
    ) dead
    where ${type ?? null}::text is null or ${type ?? null} = (
      select type from events where organization_id = dead.organization_id and id = dead.event_id)`

  const openOfGroups = ({ organizationId, groupId, endpointId, reason, status }: DeadLetterFilter) => sql`
    select endpoint_id, each.reason, each.open from failure_groups
    cross join lateral (values ('rejected', rejected), ('exhausted', exhausted), ('poison', poison)) as each (reason, open)
    where each.open > 0
      and ${equal({ organization_id: organizationId, id: groupId, endpoint_id: endpointId, "each.reason": reason, status })}`

  return {
    /** Lists dead letters that weren't replayed, by default newest first, starting after `after`. */
    list: (
      { status, type, ...filter }: DeadLetterFilter,
      limit: number,
      after: DeadLetterCursor | null = null,
      direction: Direction = "desc",
    ) => {
      const order = keyset({ finishedAt: "finished_at", id: "dead.id" }, direction)
      const newest = (group?: Statement.Fragment) => sql`
        select ${columns} from dead_letters dead
        cross join lateral (
          -- Single look-ups in the order of the list, regardless of the planner's estimates.
          select type, emitted_at from events where organization_id = dead.organization_id and id = dead.event_id offset 0
        ) event
        where replayed_as is null and ${isDeadLetterOf(sql, filter)} and ${allOf(equal({ "event.type": type }), group)}
          and ${order.after(after)}
        order by ${order.order} limit ${limit}`
      if (status === undefined) return decode(newest())
      // The first of each group: a plan for all groups sorted all dead letters of a status.
      return decode(sql`
        select dead.* from failure_groups failed cross join lateral (${newest(sql`dead.group_id = failed.id`)}) dead
        where failed.status = ${status}::int
        order by ${sql.literal(`"finishedAt" ${direction}, dead.id ${direction}`)} limit ${limit}`)
    },

    /**
     * Counts dead letters that weren't replayed, by endpoint and reason, the most first. The failure groups have the counts, except for
     * filters by type or time, which are counted by row among `maxLooked` dead letters.
     */
    count: (filter: DeadLetterFilter, maxLooked: number | null = null) =>
      sql`
        select ${counts.columns} from (${isGrouped(filter) ? openOfGroups(filter) : openOneByOne(filter, maxLooked)}) each
        group by endpoint_id, reason order by count desc, endpoint_id, reason`.pipe(counts.decode),

    /**
     * Counts the events that an endpoint missed: its dead letters since its last success that weren't replayed, with the time of the
     * first; null for none. Disabling, changing or enabling the endpoint doesn't change the result. Successes are
     * counted per five minutes, so dead letters shortly before the last success are included.
     */
    missedBy: (endpointId: EndpointId) =>
      sql`
        select count(*)::int as count, min(finished_at) as since from dead_letters
        where endpoint_id = ${endpointId} and replayed_as is null and finished_at >= coalesce((
          select max(at) from delivery_outcomes where endpoint_id = ${endpointId} and delivered > 0 and at <= clock_timestamp()
        ), '-infinity')`.pipe(decodeMissed),

    /** Counts the dead letters that a purge by age would delete, replayed or not, and returns the time before which they died. */
    countOld: (filter: PurgeFilter, olderThanSeconds: number) =>
      sql`
        with age as materialized (
          select clock_timestamp() - make_interval(secs => ${olderThanSeconds}::double precision) as before
        )
        select before, count(dead.id)::int as count, count(nullif(replayed_as, ''))::int as replayed
        from age left join dead_letters dead on finished_at < before and ${isPurged(sql, filter)}
        group by before`.pipe(decodeOld),
  }
})
