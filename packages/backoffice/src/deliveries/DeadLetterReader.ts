import type { DeadLetterReason, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import type { EndpointId } from "@outreach/domain/Identifier"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import {
  type DeadLetterFilter,
  type DeadLetterPosition,
  isDeadLetterOf,
} from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CREATED_AT } from "./DeliveryReader.ts"

/** How many dead letters of an endpoint have a reason. */
export interface DeadLetterCount {
  readonly endpointId: EndpointId
  readonly reason: DeadLetterReason
  readonly count: number
}

/** Reports whether the groups of failures tell how many dead letters a filter leaves. */
export const isGrouped = ({ eventType, from, to }: DeadLetterFilter): boolean =>
  eventType === undefined && from === undefined && to === undefined

/** Reads the deliveries that are dead letters and were not replayed. */
export class DeadLetterReader extends Context.Service<DeadLetterReader>()("backoffice/deliveries/DeadLetterReader", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const createdAt = sql.literal(CREATED_AT)

    const matches = (filter: DeadLetterFilter) =>
      sql.and([
        sql`replayed_as is null`,
        isDeadLetterOf(sql, filter, sql`delivery`),
        ...(filter.endpointId === undefined ? [] : [sql`endpoint_id = ${filter.endpointId}`]),
        ...(filter.eventType === undefined ? [] : [sql`event.type = ${filter.eventType}`]),
        ...(filter.reason === undefined ? [] : [sql`reason = ${filter.reason}`]),
        ...(filter.from === undefined ? [] : [sql`finished_at >= ${filter.from}::timestamptz`]),
        ...(filter.to === undefined ? [] : [sql`finished_at < ${filter.to}::timestamptz`]),
      ])

    const openOneByOne = ({ eventType, ...filter }: DeadLetterFilter, maxLooked: number | null) => sql`
      select endpoint_id, reason, 1 as open from (
        select * from dead_letters delivery where ${matches(filter)} limit ${maxLooked}::int
      ) delivery
      where ${eventType ?? null}::text is null or ${eventType ?? null} = (
        select type from events where organization_id = delivery.organization_id and id = delivery.event_id)`

    const openOfGroups = ({ organizationId, groupId, endpointId, reason, status }: DeadLetterFilter) => sql`
      select endpoint_id, reason, open from failure_groups
      where open > 0 and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
        and (${groupId ?? null}::text is null or id = ${groupId ?? null})
        and (${endpointId ?? null}::text is null or endpoint_id = ${endpointId ?? null})
        and (${reason ?? null}::text is null or reason = ${reason ?? null})
        and (${status ?? null}::int is null or status = ${status ?? null}::int)`

    return {
      /** Lists dead letters that were not replayed, newest first, from `after` on. */
      list: Effect.fn("DeadLetterReader.list")(
        ({ status, ...filter }: DeadLetterFilter, limit: number, after: DeadLetterPosition | null = null) => {
          const newest = (group: Statement.Fragment) => sql<DeliverySummary>`
              select delivery.organization_id as "organizationId", delivery.id, endpoint_id as "endpointId", event_id as "eventId",
                event.type as "eventType", reason as state, attempts_made(attempts) as attempts, null as "dueAt",
                ${createdAt}, finished_at as "finishedAt", replayed_as as "replayedAs"
              from dead_letters delivery
              cross join lateral (
                -- One by one, in the order of the list, however many the planner takes the others to be.
                select type, emitted_at from events where organization_id = delivery.organization_id and id = delivery.event_id offset 0
              ) event
              where ${matches(filter)} and ${group}
                and (finished_at, delivery.id) < (coalesce(${after?.finishedAt ?? null}::timestamptz, 'infinity'), ${after?.id ?? "~"})
              order by finished_at desc, delivery.id desc limit ${limit}`
          if (status === undefined) return newest(sql`true`)
          // The newest of each group: a plan for all groups sorted all dead letters of a status.
          return sql<DeliverySummary>`
              select dead.* from failure_groups failed cross join lateral (${newest(sql`delivery.group_id = failed.id`)}) dead
              where failed.status = ${status}::int
              order by "finishedAt" desc, dead.id desc limit ${limit}`
        },
        orDieAs("DeadLetterReader.list"),
      ),

      /**
       * Counts dead letters that were not replayed, by endpoint and reason, the most first. The groups of failures know how many there are;
       * of a type or a time they are counted one by one, among `maxLooked` of them alone.
       */
      count: Effect.fn("DeadLetterReader.count")(
        (filter: DeadLetterFilter, maxLooked: number | null = null) => sql<DeadLetterCount>`
          select endpoint_id as "endpointId", reason, sum(open)::int as count
          from (${isGrouped(filter) ? openOfGroups(filter) : openOneByOne(filter, maxLooked)}) each
          group by endpoint_id, reason order by count desc, endpoint_id, reason`,
        orDieAs("DeadLetterReader.count"),
      ),
    }
  }),
}) {
  static readonly layer = Layer.effect(DeadLetterReader, DeadLetterReader.make)
}
