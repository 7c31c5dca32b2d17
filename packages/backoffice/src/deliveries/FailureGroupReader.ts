import { DescribedError } from "@outreach/domain/DescribedError"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { type DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { allOf, equal } from "@outreach/postgres/conditions"
import { keyset } from "@outreach/postgres/keyset"
import { decodeRow, decodeRows, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { Reader } from "../Reader.ts"

/** Dead letters of an endpoint that failed alike. */
const FailureGroup = Schema.Struct({
  organizationId: OrganizationId,
  id: FailureGroupId,
  endpointId: EndpointId,
  reason: Schema.Literals(DEAD_LETTER_REASONS),
  /** The HTTP status of the last attempt, or null when no response came. */
  status: Schema.NullOr(Schema.Int),
  /** The outcome of the last attempt, as in `Attempt`. */
  outcome: Schema.String,
  /** The first line of the last response without what is personal; null when it had no text. */
  firstLine: Schema.NullOr(Schema.String),
  /** How many were not replayed. */
  open: Schema.Int,
  /** How many are kept, replayed or not. */
  stored: Schema.Int,
  /** When the first and the last one died since the group has dead letters. */
  firstAt: Timestamp,
  lastAt: Timestamp,
})
export type FailureGroup = typeof FailureGroup.Type

export class FailureGroupNotFound extends DescribedError(
  "FailureGroupNotFound",
  "No group of failures {groupId}: it never was, or none of its dead letters is kept any more.",
) {}

/** Which groups are selected: all conditions must hold. */
export interface FailureGroupFilter extends Partial<Pick<FailureGroup, "organizationId" | "endpointId" | "reason">> {
  readonly status?: number
}

const FailureHour = Schema.Struct({ groupId: FailureGroupId, hour: Timestamp, count: Schema.Int })
export type FailureHour = typeof FailureHour.Type

export type FailureGroupCursor = Pick<FailureGroup, "lastAt" | "id">

const { columns, decode } = rowsOf(FailureGroup)
const hours = rowsOf(FailureHour)
const decodeStatuses = decodeRows({ status: Schema.NullOr(Schema.Int), open: Schema.Int })
const decodeTotals = decodeRow({ open: Schema.Int, groups: Schema.Int })
const lastFirst = keyset({ lastAt: "last_at", id: "id" }, "desc")

/** Reads failures grouped by endpoint, reason, status and first line of the response. */
export class FailureGroupReader extends Reader<FailureGroupReader>()(
  "backoffice/deliveries/FailureGroupReader",
  (sql) => {
    /** The condition that a group is selected and has dead letters that were not replayed. */
    const isOpen = ({ organizationId, endpointId, reason, status }: FailureGroupFilter) =>
      allOf(sql`open > 0`, equal({ organization_id: organizationId, endpoint_id: endpointId, reason, status }))

    return {
      /** Lists groups with dead letters that were not replayed: those with the newest one first, from `after` on. */
      list: (filter: FailureGroupFilter, limit: number, after: FailureGroupCursor | null = null) =>
        sql`
        select ${columns} from failure_groups where ${isOpen(filter)} and ${lastFirst.after(after)}
        order by ${lastFirst.order} limit ${limit}::int`.pipe(decode),

      /** Lists the groups with the most dead letters that were not replayed. */
      largest: (filter: FailureGroupFilter, limit: number) =>
        sql`
        select ${columns} from failure_groups where ${isOpen(filter)}
        order by open desc, ${lastFirst.order} limit ${limit}::int`.pipe(decode),

      /** Counts the dead letters that were not replayed by the HTTP status of their last attempt, null for none; the most first. */
      statuses: (filter: FailureGroupFilter) =>
        sql`
        select status, sum(open)::int as open from failure_groups where ${isOpen(filter)}
        group by status order by open desc, status`.pipe(decodeStatuses),

      /** Finds the group of a dead letter; null for a delivery that is none. */
      findOf: (deliveryId: DeliveryId) =>
        sql`
        select ${columns} from failure_groups
        where (organization_id, id) in (select organization_id, group_id from dead_letters where id = ${deliveryId})`.pipe(
          decode,
          Effect.map((rows) => rows[0] ?? null),
        ),

      find: Effect.fnUntraced(function* (groupId: FailureGroupId) {
        const rows = yield* sql`select ${columns} from failure_groups where id = ${groupId}`.pipe(decode)
        return rows[0] ?? (yield* new FailureGroupNotFound({ groupId }))
      }),

      /** Counts the dead letters that are kept by group and the hour in which they died. An hour without one is left out. */
      hours: (groups: ReadonlyArray<FailureGroup>, since: Timestamp) =>
        sql`
        select ${hours.columns}
        from unnest(
          ${groups.map(({ organizationId }) => organizationId)}::text[], ${groups.map(({ id }) => id)}::text[]
        ) as wanted (organization_id, group_id)
        join failure_group_hours using (organization_id, group_id)
        where hour >= ${since}::timestamptz order by group_id, hour`.pipe(hours.decode),

      totals: (filter: FailureGroupFilter) =>
        sql`
        select coalesce(sum(open), 0)::int as open, count(*)::int as groups
        from failure_groups where ${isOpen(filter)}`.pipe(decodeTotals),
    }
  },
) {}
