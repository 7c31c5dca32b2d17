import { FailureGroupReader, type FailureHour } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { Sparkline } from "../../components/charts/Sparkline.tsx"
import { flagsOf, formatCount, formatCounted } from "../../components/format.ts"
import { FilterBar } from "../../components/forms.tsx"
import { Chips, Pager, Table, withQuery } from "../../components/lists.tsx"
import { useView } from "../../components/View.ts"
import { Time } from "../../components/values.tsx"
import { choice, defineCursor, oneOf, pageOf, pickDefined } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { StatusChips } from "../deliveries/Deliveries.tsx"
import { HttpStatus } from "../deliveries/deadLetters.ts"
import { EndpointLink, endpointFilter, endpointOptions, readEndpoints } from "../deliveries/EndpointLink.tsx"
import { organizationFilter } from "../filters.ts"
import { FailureCause, fillHours, firstHour } from "./FailureCause.tsx"
import { isReplaying, ReplayJobs } from "./ReplayJobs.tsx"

const PAGE_SIZE = 20
const JOBS = 10
/** How often the browser renews the issues and the jobs while one of them runs. */
const REFRESH_SECONDS = 3

const groupCursor = defineCursor({ lastAt: Instant, id: FailureGroupId })

const filters = {
  organization: organizationFilter,
  endpoint: endpointFilter,
  reason: choice("Reason", DEAD_LETTER_REASONS, { all: "All" }),
  status: HttpStatus,
  order: oneOf(["newest", "largest"]),
}

export const issuesPage = definePage("/issues", {
  inputs: { ...filters, after: groupCursor.input },
  run: Effect.fnUntraced(function* ({ after, order = "newest", ...given }, { operator, now }) {
    const { organization, endpoint, reason, status } = given
    const groups = yield* FailureGroupReader
    const scope = pickDefined({ organizationId: organization, endpointId: endpoint })
    const filter = { ...scope, ...pickDefined({ reason, status }) }
    // Before the counts: a page of finished jobs is not renewed, so its counts must be those after the jobs.
    const jobs = yield* (yield* ReplayReader).list(JOBS, operator.organizationId)
    const [organizations, endpoints, totals, statuses, found] = yield* Effect.all(
      [
        (yield* OrganizationReader).list,
        readEndpoints(organization),
        groups.totals(filter),
        groups.statuses(scope),
        order === "largest" ? groups.largest(filter, PAGE_SIZE) : groups.list(filter, PAGE_SIZE + 1, after ?? null),
      ],
      { concurrency: "unbounded" },
    )
    const { rows, last } = pageOf(found, PAGE_SIZE)
    const hours = yield* groups.hours(rows, fromUnixMillis(firstHour(now, 24)))
    const values = { ...given, order: order === "newest" ? undefined : order }
    const address = withQuery("/issues", values)
    return {
      title: "Issues",
      commands: [`ops dead-letters groups${flagsOf(given)}`, "ops replays list"],
      body: (
        <>
          <FilterBar
            inputs={filters}
            values={values}
            controls={{ organization: { options: organizations }, endpoint: endpointOptions(endpoints) }}
          />
          <StatusChips label="Statuses" statuses={statuses} chosen={status} address={address} />
          <Chips
            label="Order"
            address={address}
            chips={[
              { text: "Newest first", query: { order: undefined }, isChosen: order === "newest" },
              { text: "Largest first", query: { order: "largest" }, isChosen: order === "largest" },
            ]}
          />
          <div id="renewed" data-refresh={isReplaying(jobs) ? REFRESH_SECONDS : undefined}>
            <p>
              {totals.open === 0
                ? "No dead letter waits to be replayed."
                : `${formatCounted(totals.open, "dead letter")} in ${formatCounted(totals.groups, "issue")} were not delivered and not replayed.`}
            </p>
            <Table
              caption="Issues"
              hideCaption
              rows={rows}
              empty="No issue. Deliveries that a partner rejects, or that run out of attempts, would stand here, grouped by their cause."
              columns={{
                "Dead letters": { number: ({ id, open }) => <a href={`/issues/${id}`}>{formatCount(open)}</a> },
                Cause: (group) => <FailureCause {...group} />,
                Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={endpoints} />,
                First: ({ firstAt }) => <Time at={firstAt} />,
                Last: ({ lastAt }) => <Time at={lastAt} />,
                "Last 24 hours": ({ id }) => <Trend hours={hours.filter(({ groupId }) => groupId === id)} />,
              }}
            />
            <Pager next={last && { after: groupCursor.of(last) }} />
            <ReplayJobs jobs={jobs} />
          </div>
        </>
      ),
    }
  }),
})

/** How many deliveries became dead letters in the last 24 hours, by the hour. */
const Trend = (props: { readonly hours: ReadonlyArray<FailureHour> }) => {
  const points = fillHours(props.hours, firstHour(useView().now, 24), 24)
  const total = points.reduce((sum, { value }) => sum + value, 0)
  return (
    <>
      <Sparkline
        label={`${formatCount(total)} in the last 24 hours, ${points.at(-1)!.value} in this one`}
        points={points}
      />
      <small>{formatCount(total)}</small>
    </>
  )
}
