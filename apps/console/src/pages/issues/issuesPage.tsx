import {
  type FailureGroup,
  FailureGroupReader,
  type FailureHour,
} from "@outreach/backoffice/deliveries/FailureGroupReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { EndpointId, FailureGroupId, OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { flagsOf, formatCount, formatCounted } from "../../components/format.ts"
import { Choice, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Chips, Pager, Table, withQuery } from "../../components/lists.tsx"
import { Time } from "../../components/values.tsx"
import { defineCursor, oneOf, pageOf, pickDefined } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { HttpStatus } from "../deliveries/deadLetters.ts"
import { EndpointChoice, EndpointLink, type Endpoints, readEndpoints } from "../deliveries/EndpointLink.tsx"
import { StatusChips } from "../deliveries/StatusChips.tsx"
import { FailureCause } from "./FailureCause.tsx"
import { isReplaying, ReplayJobs } from "./ReplayJobs.tsx"
import { firstHour, Trend } from "./Trend.tsx"

const PAGE_SIZE = 20
const JOBS = 10
/** How often the browser renews the issues and the jobs while one of them runs. */
const REFRESH_SECONDS = 3

const groupCursor = defineCursor({ lastAt: Instant, id: FailureGroupId })

/** `/issues`: dead letters that were not replayed, grouped by their cause, and replay jobs. */
export const issuesPage = definePage({
  path: "/issues",
  query: {
    organization: OrganizationId,
    endpoint: EndpointId,
    reason: oneOf(DEAD_LETTER_REASONS),
    status: HttpStatus,
    order: oneOf(["newest", "largest"]),
    after: groupCursor.input,
  },
  read: Effect.fnUntraced(function* ({ after, order = "newest", ...filters }, { operator, now }) {
    const { organization, endpoint, reason, status } = filters
    const groups = yield* FailureGroupReader
    const scope = pickDefined({ organizationId: organization, endpointId: endpoint })
    const filter = { ...scope, ...pickDefined({ reason, status }) }
    const [organizations, endpoints, totals, statuses, found, jobs] = yield* Effect.all(
      [
        (yield* OrganizationReader).list,
        readEndpoints(organization),
        groups.totals(filter),
        groups.statuses(scope),
        order === "largest" ? groups.largest(filter, PAGE_SIZE) : groups.list(filter, PAGE_SIZE + 1, after ?? null),
        (yield* ReplayJobQueue).list(JOBS, operator.organizationId),
      ],
      { concurrency: "unbounded" },
    )
    const { rows, last } = pageOf(found, PAGE_SIZE)
    const hours = yield* groups.hours(rows, fromUnixMillis(firstHour(now, 24)))
    const chosenOrder = order === "newest" ? undefined : order
    const address = withQuery("/issues", { ...filters, order: chosenOrder })
    return {
      title: "Issues",
      commands: [`ops dead-letters groups${flagsOf(filters)}`, "ops replays list"],
      body: (
        <>
          <FilterBar action="/issues" values={filters} hidden={{ status, order: chosenOrder }}>
            <OrganizationChoice organizations={organizations} all="All" />
            <EndpointChoice endpoints={endpoints} />
            <Choice name="reason" label="Reason" all="All" options={DEAD_LETTER_REASONS} />
          </FilterBar>
          <StatusChips label="Statuses" statuses={statuses} chosen={status} address={address} />
          <Chips
            label="Order"
            chips={[
              { text: "Newest first", to: withQuery(address, { order: undefined }), isChosen: order === "newest" },
              { text: "Largest first", to: withQuery(address, { order: "largest" }), isChosen: order === "largest" },
            ]}
          />
          <div id="renewed" data-refresh={isReplaying(jobs) ? REFRESH_SECONDS : undefined}>
            <p>
              {totals.open === 0
                ? "No dead letter waits to be replayed."
                : `${formatCounted(totals.open, "dead letter")} in ${formatCounted(totals.groups, "issue")} were not delivered and not replayed.`}
            </p>
            <Issues rows={rows} hours={hours} endpoints={endpoints} />
            <Pager next={last && { after: groupCursor.of(last) }} />
            <ReplayJobs jobs={jobs} />
          </div>
        </>
      ),
    }
  }),
})

const Issues = (props: {
  readonly rows: ReadonlyArray<FailureGroup>
  readonly hours: ReadonlyArray<FailureHour>
  readonly endpoints: Endpoints
}) => (
  <Table
    caption="Issues"
    hideCaption
    rows={props.rows}
    empty="No issue. Deliveries that a partner rejects, or that run out of attempts, would stand here, grouped by their cause."
    columns={{
      "Dead letters": { number: ({ id, open }) => <a href={`/issues/${id}`}>{formatCount(open)}</a> },
      Cause: (group) => <FailureCause {...group} />,
      Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={props.endpoints} />,
      First: ({ firstAt }) => <Time at={firstAt} />,
      Last: ({ lastAt }) => <Time at={lastAt} />,
      "Last 24 hours": ({ id }) => <Trend hours={props.hours.filter(({ groupId }) => groupId === id)} />,
    }}
  />
)
