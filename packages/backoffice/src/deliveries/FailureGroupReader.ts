import { FailureGroupNotFound } from "@outreach/domain/deliveries/DeadLetters"
import { describeCause, describeShare } from "@outreach/domain/deliveries/describeCause"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { type DeliveryId, EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { reader } from "@outreach/postgres/adapter"
import { failureGroupsOf } from "@outreach/postgres/deliveries/failureGroupsOf"
import { IS_LASTING } from "@outreach/postgres/operators/FactReader"
import { allOf, decodeRow, decodeRows, equal, first, firstOr, keyset, rowsOf } from "@outreach/postgres/rowsOf"
import { Array as Arr, Effect, Schema } from "effect"
import type { Statement } from "effect/sql"
import { checkBox, choice, type FilterOf, filterBy } from "../operations/Field.ts"

/** Calls to an endpoint that failed in the same way, and their dead letters. */
const StoredGroup = Schema.Struct({
  organizationId: OrganizationId,
  id: FailureGroupId,
  endpointId: EndpointId,
  /** The HTTP status of the attempts, or null without a response. */
  status: Schema.NullOr(Schema.Int),
  /** The outcome of the attempts, as in `Attempt`. */
  outcome: Schema.String,
  /** The first line of the response without personal data; null if it had no text or was erased. */
  firstLine: Schema.NullOr(Schema.String),
  /** The number of failed attempts in this episode. */
  failures: Schema.Int,
  /** The number of the endpoint's calls in this episode; null once calls succeed again. */
  calls: Schema.NullOr(Schema.Int),
  openedAt: Timestamp,
  lastAt: Timestamp,
  /** When calls succeeded again; null during the episode. */
  closedAt: Schema.NullOr(Timestamp),
  /** The number of dead letters that weren't replayed. */
  open: Schema.Int,
  /** The number of stored dead letters, replayed or not. */
  stored: Schema.Int,
  mutedAt: Schema.NullOr(Timestamp),
  mutedReason: Schema.NullOr(Schema.String),
})

/** With its cause in one line, and the share of the endpoint's calls that failed. */
const describeGroup = (group: typeof StoredGroup.Type) => ({
  ...group,
  cause: describeCause(group),
  share: describeShare(group),
})
type FailureGroup = ReturnType<typeof describeGroup>

/** Describes why a group has no first line: its id shows whether it had one before it was erased or deleted. */
export const describeMissingLine = (group: Pick<FailureGroup, "id" | "endpointId" | "status" | "outcome">): string => {
  const { id, endpointId, status, outcome } = group
  const { blank } = failureGroupsOf(endpointId, { status, outcome, response: null })
  if (id !== blank.id) return "the text of the response was deleted"
  return status === null ? "no response" : "no text in the response, or an erased one"
}

/** The conditions for listing groups: failing now, with dead letters to replay, muted, or ended without one. */
const FAILURE_GROUP_STATES = {
  lasting: IS_LASTING,
  dead: "muted_at is null and open > 0",
  muted: "muted_at is not null",
  ended: "muted_at is null and closed_at is not null and open = 0",
} as const
type State = keyof typeof FAILURE_GROUP_STATES

export const issueFilters = {
  organizationId: filterBy.organization,
  endpointId: filterBy.endpoint,
  status: filterBy.status,
  state: choice(
    "State",
    [
      ["lasting", "Failing now"],
      ["dead", "With dead letters"],
      ["muted", "Muted"],
      ["ended", "Ended"],
    ],
    { all: "Open", hint: "Failing now, with dead letters to replay, muted, or ended without dead letters" },
  ),
  largest: checkBox("Largest first", { hint: "On one page" }),
}

/** Default of `state`: failing groups and those with dead letters; for a given endpoint also if it is disabled. */
export type FailureGroupFilter = FilterOf<typeof issueFilters>

const { columns, decode } = rowsOf(StoredGroup, {
  failures: "failures::double precision",
  calls: `case when closed_at is null then greatest(failures, (
    select sum(delivered + client_errors + server_errors + other_statuses + no_responses) - calls_before from delivery_outcomes
    where endpoint_id = failure_groups.endpoint_id and at >= date_bin('5 minutes', opened_at, 'epoch')
  ))::double precision end`,
})
const decodeStatuses = decodeRows({ status: Schema.NullOr(Schema.Int), open: Schema.Int, groups: Schema.Int })
const decodeTotals = decodeRow({ open: Schema.Int, groups: Schema.Int, lasting: Schema.Int })
const lastFirst = keyset({ lastAt: "last_at", id: "id" }, "desc")

/** Reads failures grouped by endpoint, status or outcome, and first line of the response. */
export const FailureGroupReader = reader("FailureGroupReader", (sql) => {
  const read = (selection: Statement.Fragment) =>
    sql`select ${columns} from failure_groups where ${selection}`.pipe(decode, Effect.map(Arr.map(describeGroup)))
  const isIn = (state: State) => sql`(${sql.literal(FAILURE_GROUP_STATES[state])})`
  const isSelected = ({ organizationId, endpointId, status, state }: FailureGroupFilter) =>
    allOf(
      state !== undefined
        ? isIn(state)
        : endpointId === undefined
          ? sql`(${isIn("lasting")} or ${isIn("dead")})`
          : sql`muted_at is null and (closed_at is null or open > 0)`,
      equal({ organization_id: organizationId, endpoint_id: endpointId, status }),
    )

  return {
    /** Lists groups by their last failure, newest first; or the failing ones and then those with dead letters, each with the largest first. */
    list: (filter: FailureGroupFilter, limit: number, after: Pick<FailureGroup, "lastAt" | "id"> | null = null) =>
      read(sql`
        ${isSelected(filter)} and ${lastFirst.after(after)}
        order by ${filter.largest ? sql`closed_at is not null, greatest(failures, open) desc,` : sql``} ${lastFirst.order}
        limit ${limit}::int`),

    /** Counts groups and their dead letters by HTTP status, null for none; the most first. */
    statuses: (filter: FailureGroupFilter) =>
      sql`
        select status, sum(open)::int as open, count(*)::int as groups from failure_groups where ${isSelected(filter)}
        group by status order by open desc, groups desc, status`.pipe(decodeStatuses),

    /** Finds the group of a dead letter; undefined for other deliveries. */
    findOf: (id: DeliveryId) =>
      first(read(sql`(organization_id, id) in (select organization_id, group_id from dead_letters where id = ${id})`)),

    /** Finds the failing group with the last failure of an endpoint, including muted groups; undefined if there is none. */
    current: ({ organizationId, id }: Pick<Endpoint, "organizationId" | "id">) =>
      read(sql`
        organization_id = ${organizationId} and endpoint_id = ${id} and closed_at is null
        order by ${lastFirst.order} limit 1`).pipe(first),

    find: (groupId: FailureGroupId) => read(sql`id = ${groupId}`).pipe(firstOr(FailureGroupNotFound, { groupId })),

    /** Counts the failing groups, the dead letters that weren't replayed, and their groups. */
    totals: (filter: FailureGroupFilter) =>
      sql`
        select coalesce(sum(open), 0)::int as open, count(*) filter (where open > 0)::int as groups,
          count(*) filter (where ${isIn("lasting")})::int as lasting
        from failure_groups where ${isSelected(filter)}`.pipe(decodeTotals),
  }
})
