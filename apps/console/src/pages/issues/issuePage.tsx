import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { DeliveryRepository } from "@outreach/postgres/deliveries/DeliveryRepository"
import { FailureGroups } from "@outreach/postgres/deliveries/FailureGroups"
import { Effect } from "effect"
import { Histogram } from "../../components/charts/Histogram.tsx"
import { Facts } from "../../components/Facts.tsx"
import { formatCount } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Pager } from "../../components/Pager.tsx"
import { Time } from "../../components/Time.tsx"
import { definePage } from "../../http/Route.ts"
import { Deliveries } from "../deliveries/Deliveries.tsx"
import { deadLetterPlace, Place, toPlace } from "../deliveries/deliveryFilter.ts"
import { EndpointLink, type Endpoints } from "../deliveries/EndpointLink.tsx"
import { describeGroup, FailureCause, GroupHeading } from "./FailureCause.tsx"
import { fillHours, firstHour } from "./Trend.tsx"

const PAGE_SIZE = 20
const HOURS = 7 * 24
const HOUR_MS = 3_600_000

/** `/issues/:group`: dead letters that failed alike, and what to do about them. */
export const issuePage = definePage({
  path: "/issues/:group",
  section: "issues",
  role: "viewer",
  params: { group: FailureGroupId },
  query: { after: Place },
  read: Effect.fnUntraced(function* ({ group: id, after }, { operator, now }) {
    const groups = yield* FailureGroups
    const group = yield* groups.find(id)
    const from = firstHour(now, HOURS)
    const [hours, found, endpoints] = yield* Effect.all(
      [
        groups.hours([group], fromUnixMillis(from)),
        (yield* DeadLetterRepository).list(
          { organizationId: group.organizationId, groupId: id },
          PAGE_SIZE + 1,
          after === undefined ? null : deadLetterPlace(after),
        ),
        (yield* DeliveryRepository).endpoints(group.organizationId),
      ],
      { concurrency: "unbounded" },
    )
    const rows: ReadonlyArray<DeliverySummary> = found.slice(0, PAGE_SIZE)
    const last = found.length > PAGE_SIZE ? rows.at(-1) : undefined
    const byId: Endpoints = new Map(endpoints.map((each) => [each.id, each]))
    return {
      title: describeGroup(group),
      heading: <GroupHeading {...group} />,
      commands: [
        `ops dead-letters list --group ${id}`,
        `ops dead-letters replay --group ${id} --dry-run`,
        `ops dead-letters replay --group ${id} --rate 100 --detach`,
        `ops dead-letters purge --group ${id} --dry-run`,
      ],
      body: (
        <>
          <Facts
            facts={{
              Cause: <FailureCause {...group} />,
              "Not replayed": formatCount(group.open),
              Kept: formatCount(group.stored),
              Endpoint: <EndpointLink id={group.endpointId} endpoints={byId} />,
              Organization: <IdLink id={group.organizationId} />,
              First: <Time at={group.firstAt} />,
              Last: <Time at={group.lastAt} />,
            }}
          />
          <ul class="chips">
            {group.open > 0 && mayActAs(operator.role, "operator") && (
              <li>
                <a href={`/dead-letters/replay?group=${id}`}>Replay {formatCount(group.open)}</a>
              </li>
            )}
            {mayActAs(operator.role, "admin") && (
              <li>
                <a href={`/issues/${id}/purge`}>Purge {formatCount(group.stored)}</a>
              </li>
            )}
          </ul>
          <Histogram
            title="Dead letters by the hour, in the last 7 days"
            series={[{ name: "dead letters", color: "var(--bad)" }]}
            buckets={fillHours(hours, from, HOURS)
              .filter(({ value }) => value > 0)
              .map(({ at, value }) => ({ at: at.getTime(), counts: { "dead letters": value } }))}
            bucketMs={HOUR_MS}
            from={from}
            to={from + HOURS * HOUR_MS}
            empty="None of them died in the last 7 days."
          />
          <h2>Newest dead letters</h2>
          <Deliveries rows={rows} endpoints={byId} isDead isContinued={false} />
          <Pager address={`/issues/${id}`} next={last && { after: toPlace(last.finishedAt!, last.id) }} />
        </>
      ),
    }
  }),
})
