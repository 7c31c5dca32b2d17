import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { DeliveryRepository } from "@outreach/postgres/deliveries/DeliveryRepository"
import {
  type FailureGroup,
  type FailureGroupPosition,
  FailureGroups,
  type FailureHour,
} from "@outreach/postgres/deliveries/FailureGroups"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Schema } from "effect"
import { Choice, FilterBar } from "../../components/Field.tsx"
import { formatCount } from "../../components/format.ts"
import { OrganizationChoice } from "../../components/OrganizationChoice.tsx"
import { Pager, withQuery } from "../../components/Pager.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { definePage } from "../../http/Route.ts"
import { Chips } from "../deliveries/Chips.tsx"
import {
  defined,
  fromPlace,
  HttpStatus,
  Place,
  Reason,
  toFlags,
  toPlace,
  toTexts,
} from "../deliveries/deliveryFilter.ts"
import { EndpointLink, type Endpoints, hostOf } from "../deliveries/EndpointLink.tsx"
import { FailureCause } from "./FailureCause.tsx"
import { isReplaying, ReplayJobs } from "./ReplayJobs.tsx"
import { firstHour, Trend } from "./Trend.tsx"

const PAGE_SIZE = 20
const JOBS = 10
/** How often the browser renews the issues and the jobs while one of them runs. */
const REFRESH_SECONDS = 3

const Order = Schema.Literals(["newest", "largest"]).pipe(Schema.annotate({ expected: "newest or largest" }))

/** `/issues`: dead letters that were not replayed, grouped by their cause, and replay jobs. */
export const issuesPage = definePage({
  path: "/issues",
  section: "issues",
  role: "viewer",
  params: {},
  query: {
    organization: OrganizationId,
    endpoint: EndpointId,
    reason: Reason,
    status: HttpStatus,
    order: Order,
    after: Place,
  },
  read: Effect.fnUntraced(function* ({ after, order = "newest", ...input }, { operator, now }) {
    const groups = yield* FailureGroups
    const organizationId = operator.organizationId ?? input.organization
    const scope = defined({ organizationId, endpointId: input.endpoint })
    const filter = { ...scope, ...defined({ reason: input.reason, status: input.status }) }
    const [organizations, endpoints, totals, statuses, found, jobs] = yield* Effect.all(
      [
        (yield* OrganizationRepository).list,
        (yield* DeliveryRepository).endpoints(organizationId),
        groups.totals(filter),
        groups.statuses(scope),
        order === "largest"
          ? groups.largest(filter, PAGE_SIZE)
          : groups.list(filter, PAGE_SIZE + 1, after === undefined ? null : toGroupPlace(after)),
        (yield* ReplayJobQueue).list(JOBS, operator.organizationId),
      ],
      { concurrency: "unbounded" },
    )
    const rows = found.slice(0, PAGE_SIZE)
    const hours = yield* groups.hours(rows, fromUnixMillis(firstHour(now, 24)))
    const address = withQuery("/issues", toTexts({ ...input, order: order === "newest" ? undefined : order }))
    const last = found.length > PAGE_SIZE ? rows.at(-1) : undefined
    return {
      title: "Issues",
      commands: [
        `ops dead-letters groups${toFlags({ organization: organizationId, endpoint: input.endpoint, reason: input.reason, status: input.status })}`,
        "ops replays list",
      ],
      body: (
        <>
          <FilterBar action="/issues">
            <OrganizationChoice organizations={organizations} value={input.organization} all="All" />
            <Choice
              name="endpoint"
              label="Endpoint"
              value={input.endpoint}
              options={[
                ["", "All"],
                ...endpoints.map(({ id, url }) => [id, `${hostOf(url)} (…${id.slice(-4)})`] as const),
              ]}
            />
            <Choice
              name="reason"
              label="Reason"
              value={input.reason}
              options={[["", "All"], ...DEAD_LETTER_REASONS.map((each) => [each, each] as const)]}
            />
            {input.status !== undefined && <input type="hidden" name="status" value={String(input.status)} />}
            {order === "largest" && <input type="hidden" name="order" value={order} />}
          </FilterBar>
          {statuses.length > 0 && (
            <Chips
              label="Statuses"
              all={{
                text: "Any status",
                address: withQuery(address, { status: undefined }),
                isChosen: input.status === undefined,
              }}
              chips={statuses.flatMap(({ status, open }) =>
                status === null
                  ? []
                  : [
                      {
                        text: `${status}: ${formatCount(open)}`,
                        address: withQuery(address, { status: String(status) }),
                        isChosen: status === input.status,
                      },
                    ],
              )}
            />
          )}
          <Chips
            label="Order"
            all={{
              text: "Newest first",
              address: withQuery(address, { order: undefined }),
              isChosen: order === "newest",
            }}
            chips={[
              {
                text: "Largest first",
                address: withQuery(address, { order: "largest" }),
                isChosen: order === "largest",
              },
            ]}
          />
          <div id="renewed" data-refresh={isReplaying(jobs) ? REFRESH_SECONDS : undefined}>
            <p>
              {totals.open === 0
                ? "No dead letter waits to be replayed."
                : `${formatCount(totals.open)} ${totals.open === 1 ? "dead letter" : "dead letters"} in ${formatCount(totals.groups)} ${totals.groups === 1 ? "issue" : "issues"} were not delivered and not replayed.`}
            </p>
            <Issues rows={rows} hours={hours} endpoints={new Map(endpoints.map((each) => [each.id, each]))} now={now} />
            <Pager address={address} next={last && { after: toPlace(last.lastAt, last.id) }} />
            <ReplayJobs jobs={jobs} />
          </div>
        </>
      ),
    }
  }),
})

const toGroupPlace = (text: string): FailureGroupPosition => {
  const { at, id } = fromPlace(text)
  return { lastAt: at, id: id as FailureGroupPosition["id"] }
}

const Issues = (props: {
  readonly rows: ReadonlyArray<FailureGroup>
  readonly hours: ReadonlyArray<FailureHour>
  readonly endpoints: Endpoints
  readonly now: number
}) => (
  <Table<FailureGroup>
    caption="Issues"
    hideCaption
    rows={props.rows}
    empty="No issue. Deliveries that a partner rejects, or that run out of attempts, would stand here, grouped by their cause."
    columns={[
      {
        header: "Dead letters",
        numeric: true,
        cell: ({ id, open }) => <a href={`/issues/${id}`}>{formatCount(open)}</a>,
      },
      { header: "Cause", cell: (group) => <FailureCause {...group} /> },
      {
        header: "Endpoint",
        cell: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={props.endpoints} />,
      },
      { header: "First", cell: ({ firstAt }) => <Time at={firstAt} /> },
      { header: "Last", cell: ({ lastAt }) => <Time at={lastAt} /> },
      {
        header: "Last 24 hours",
        cell: ({ id }) => <Trend hours={props.hours.filter(({ groupId }) => groupId === id)} now={props.now} />,
      },
    ]}
  />
)
