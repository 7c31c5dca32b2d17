import type { DeadLetterReason } from "@outreach/domain/deliveries/Delivery"
import type { DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"

/** Dead letters of an endpoint that failed alike. */
export interface FailureGroup {
  readonly organizationId: OrganizationId
  readonly id: FailureGroupId
  readonly endpointId: EndpointId
  readonly reason: DeadLetterReason
  /** The HTTP status of the last attempt, or null when no response came. */
  readonly status: number | null
  /** The outcome of the last attempt, as in `Attempt`. */
  readonly outcome: string
  /** The first line of the last response without what is personal; null when it had no text. */
  readonly firstLine: string | null
  /** How many were not replayed. */
  readonly open: number
  /** How many are kept, replayed or not. */
  readonly stored: number
  /** When the first one died, and the last, of all that there were since the group has one. */
  readonly firstAt: Timestamp
  readonly lastAt: Timestamp
}

/** No group of failures has this id. */
export class FailureGroupNotFound extends Schema.TaggedError<FailureGroupNotFound>()("FailureGroupNotFound", {
  groupId: Schema.String,
}) {
  override get message(): string {
    return `No group of failures ${this.groupId}: it never was, or none of its dead letters is kept any more.`
  }
}

/** Which groups are meant: all conditions must hold. */
export interface FailureGroupFilter {
  readonly organizationId?: OrganizationId
  readonly endpointId?: EndpointId
  readonly reason?: DeadLetterReason
  readonly status?: number
}

/** How dead letters of one hour count in the trend of a group. */
export interface FailureHour {
  readonly groupId: FailureGroupId
  readonly hour: Timestamp
  readonly count: number
}

/** A place in the list of groups by the time of their last dead letter. */
export interface FailureGroupPosition {
  readonly lastAt: Timestamp
  readonly id: FailureGroupId
}

/** Reads failures grouped by endpoint, reason, status and first line of the response. */
export class FailureGroupReader extends Context.Service<FailureGroupReader>()(
  "backoffice/deliveries/FailureGroupReader",
  {
    make: Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal(`
      organization_id as "organizationId", id, endpoint_id as "endpointId", reason, status, outcome, first_line as "firstLine", open, stored,
      first_at as "firstAt", last_at as "lastAt"`)
      const isMeant = ({ organizationId, endpointId, reason, status }: FailureGroupFilter) => sql`
      open > 0 and (${organizationId ?? null}::text is null or organization_id = ${organizationId ?? null})
      and (${endpointId ?? null}::text is null or endpoint_id = ${endpointId ?? null})
      and (${reason ?? null}::text is null or reason = ${reason ?? null})
      and (${status ?? null}::int is null or status = ${status ?? null}::int)`

      return {
        /** Lists groups with dead letters that were not replayed: those with the newest one first, from `after` on. */
        list: Effect.fn("FailureGroupReader.list")(
          (filter: FailureGroupFilter, limit: number, after: FailureGroupPosition | null = null) => sql<FailureGroup>`
          select ${columns} from failure_groups
          where ${isMeant(filter)}
            and (last_at, id) < (coalesce(${after?.lastAt ?? null}::timestamptz, 'infinity'), ${after?.id ?? ""})
          order by last_at desc, id desc limit ${limit}::int`,
          orDieAs("FailureGroupReader.list"),
        ),

        /** Lists the groups with the most dead letters that were not replayed. */
        largest: Effect.fn("FailureGroupReader.largest")(
          (filter: FailureGroupFilter, limit: number) => sql<FailureGroup>`
          select ${columns} from failure_groups where ${isMeant(filter)} order by open desc, last_at desc, id desc limit ${limit}::int`,
          orDieAs("FailureGroupReader.largest"),
        ),

        /** Counts the dead letters that were not replayed by the HTTP status of their last attempt, null for none; the most first. */
        statuses: Effect.fn("FailureGroupReader.statuses")(
          (filter: FailureGroupFilter) => sql<{ readonly status: number | null; readonly open: number }>`
          select status, sum(open)::int as open from failure_groups where ${isMeant(filter)}
          group by status order by open desc, status`,
          orDieAs("FailureGroupReader.statuses"),
        ),

        /** Finds the group of a dead letter; null for a delivery that is none. */
        findOf: Effect.fn("FailureGroupReader.findOf")(
          (deliveryId: DeliveryId) => sql<FailureGroup>`
          select ${columns} from failure_groups
          where (organization_id, id) in (select organization_id, group_id from dead_letters where id = ${deliveryId})`,
          Effect.map((rows) => rows[0] ?? null),
          orDieAs("FailureGroupReader.findOf"),
        ),

        find: Effect.fn("FailureGroupReader.find")(function* (groupId: FailureGroupId) {
          const rows = yield* sql<FailureGroup>`select ${columns} from failure_groups where id = ${groupId}`
          return rows[0] ?? (yield* new FailureGroupNotFound({ groupId }))
        }, orDieAs("FailureGroupReader.find")),

        /** Counts the dead letters that are kept by group and the hour in which they died. An hour without one is left out. */
        hours: Effect.fn("FailureGroupReader.hours")(
          (groups: ReadonlyArray<FailureGroup>, since: Timestamp) => sql<FailureHour>`
          select group_id as "groupId", hour, count
          from unnest(
            ${groups.map(({ organizationId }) => organizationId)}::text[], ${groups.map(({ id }) => id)}::text[]
          ) as wanted (organization_id, group_id)
          join failure_group_hours using (organization_id, group_id)
          where hour >= ${since}::timestamptz order by group_id, hour`,
          orDieAs("FailureGroupReader.hours"),
        ),

        /** Counts the dead letters that were not replayed, and their groups. */
        totals: Effect.fn("FailureGroupReader.totals")(function* (filter: FailureGroupFilter) {
          const rows = yield* sql<{ open: number; groups: number }>`
          select coalesce(sum(open), 0)::int as open, count(*)::int as groups from failure_groups where ${isMeant(filter)}`
          return rows[0]!
        }, orDieAs("FailureGroupReader.totals")),
      }
    }),
  },
) {
  static readonly layer = Layer.effect(FailureGroupReader, FailureGroupReader.make)
}
