import { type FAILURE_GROUP_STATES, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCount, formatCounted, formatDuration } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import { deadLetterSelector } from "@outreach/backoffice/operations/deadLetters"
import { oneOf } from "@outreach/backoffice/operations/Field"
import { organizationFilter } from "@outreach/backoffice/operations/fields"
import { cancelReplay } from "@outreach/backoffice/operations/replays"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { Replay } from "@outreach/domain/deliveries/ReplayJobQueue"
import { FailureGroupId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { Effect, Struct } from "effect"
import { ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Chips, Live, Page, Pager, Table, withQuery } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Id, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { operationConfirmation } from "../../http/operationRoutes.tsx"
import { definePage } from "../../http/Route.ts"
import { defineCursor, pageOf, pickDefined } from "../../view/inputs.ts"
import { EndpointLink, endpointFilter, endpointOptions, readEndpoints, StatusChips } from "../deliveries/Deliveries.tsx"
import { causeColumns } from "./issuePage.tsx"

const PAGE_SIZE = 20
const JOBS = 10
/** Reload interval of the issues and jobs while a job runs. */
const REFRESH_SECONDS = 3

const groupCursor = defineCursor({ lastAt: Instant, id: FailureGroupId })

const STATES: Readonly<Record<keyof typeof FAILURE_GROUP_STATES, string>> = {
  lasting: "Failing now",
  dead: "With dead letters",
  muted: "Muted",
  ended: "Ended",
}

const filters = {
  organization: organizationFilter,
  endpoint: endpointFilter,
  status: deadLetterSelector.status.schema,
  state: oneOf(Struct.keys(STATES)),
  order: oneOf(["newest", "largest"]),
}

const issuesPage = definePage("/issues", {
  forPartners: true,
  inputs: { ...filters, after: groupCursor.input },
  run: Effect.fnUntraced(function* ({ after, order = "newest", ...given }, { operator }) {
    const { organization, endpoint, status, state } = given
    const groups = yield* FailureGroupReader
    const scope = pickDefined({ organizationId: organization, endpointId: endpoint, state })
    const filter = { ...scope, ...pickDefined({ status }) }
    // Before the counts: a page of finished jobs isn't reloaded, so its counts must be newer than the jobs.
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
    const values = { ...given, order: order === "newest" ? undefined : order }
    const address = withQuery("/issues", values)
    return (
      <Page title="Issues" commands={[ops("issues list", given), ops("replays list")]}>
        <FilterBar
          inputs={filters}
          values={values}
          controls={{ organization: { options: organizations }, endpoint: endpointOptions(endpoints) }}
        />
        <Chips
          label="States"
          address={address}
          chips={[
            { text: "All", query: { state: undefined }, isChosen: state === undefined },
            ...Struct.keys(STATES).map((each) => ({
              text: STATES[each],
              query: { state: each },
              isChosen: each === state,
            })),
          ]}
        />
        <StatusChips
          label="Statuses"
          statuses={statuses.map(({ status, groups }) => ({ status, count: groups }))}
          chosen={status}
          address={address}
        />
        <Chips
          label="Order"
          address={address}
          chips={[
            { text: "Newest first", query: { order: undefined }, isChosen: order === "newest" },
            { text: "Largest first", query: { order: "largest" }, isChosen: order === "largest" },
          ]}
        />
        <Live id="renewed" seconds={jobs.some(({ state }) => state === "running") ? REFRESH_SECONDS : undefined}>
          <p>
            {totals.lasting === 0
              ? "No calls are failing."
              : `${formatCounted(totals.lasting, "cause")} of failures ${totals.lasting === 1 ? "lasts" : "last"}.`}{" "}
            {totals.open === 0
              ? "No dead letters to replay."
              : `${formatCounted(totals.open, "dead letter")} in ${formatCounted(totals.groups, "issue")} weren't delivered or replayed.`}
          </p>
          <Table
            label="Issues"
            rows={rows}
            empty="No issues."
            columns={{
              ...causeColumns,
              Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={endpoints} />,
            }}
          />
          <Pager next={last && { after: groupCursor.of(last) }} />
          <ReplayJobs jobs={jobs} />
        </Live>
      </Page>
    )
  }),
})

const TONES: Readonly<Record<Replay["state"], Tone>> = { running: "warning", finished: "good", cancelled: "neutral" }

const ReplayJobs = (props: { readonly jobs: ReadonlyArray<Replay> }) => (
  <section id="replays">
    <Table
      title="Replay jobs"
      rows={props.jobs}
      empty="No replay jobs yet."
      columns={{
        Job: ({ id }) => <Id>{id}</Id>,
        State: ({ state }) => <StatusBadge tone={TONES[state]}>{state}</StatusBadge>,
        Selection: (job) => <Selection job={job} />,
        Progress: (job) => <Progress job={job} />,
        "Per second": { count: ({ rate }) => rate },
        "Time left": (job) => timeLeft(job),
        Created: ({ createdAt }) => <Time at={createdAt} />,
        Cancel: ({ id, state }) =>
          state === "running" && <ConfirmLink page={cancelRoutes[0]} params={{ replay: id }} label="Cancel" />,
      }}
    />
  </section>
)

const Selection = ({ job }: { readonly job: Replay }) => {
  const words = [job.reason, job.status, job.eventType, job.eventTypes?.join(", ")].filter((each) => each != null)
  return (
    <>
      {job.kind === "log" ? "events of the log" : "dead letters"}
      {job.groupId !== null && (
        <>
          {" "}
          of <a href={`/issues/${job.groupId}`}>an issue</a>
        </>
      )}
      {words.length > 0 && `: ${words.join(", ")}`}
      {job.endpointId !== null && (
        <>
          {" "}
          to <IdLink id={job.endpointId} />
        </>
      )}
    </>
  )
}

const Progress = ({ job: { id, replayed, replayedByOthers, total } }: { readonly job: Replay }) => (
  <>
    <progress max={Math.max(1, total)} value={replayed + replayedByOthers} aria-label={`Progress of ${id}`} />{" "}
    {formatCount(replayed)} of {formatCount(total)}
    {replayedByOthers > 0 && `, ${formatCount(replayedByOthers)} by other jobs`}
  </>
)

const timeLeft = ({ state, total, replayed, replayedByOthers, rate }: Replay): string =>
  state === "running" ? formatDuration((total - replayed - replayedByOthers) / rate) : "–"

const cancelRoutes = operationConfirmation("/replays/:replay/cancel", cancelReplay)

export const issuesRoutes = [issuesPage, ...cancelRoutes] as const
