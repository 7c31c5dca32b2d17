import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { type FailureGroup, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCapped, formatCount, formatDuration, formatMillis, formatShare } from "@outreach/backoffice/format"
import { describeSettings } from "@outreach/backoffice/operations/endpoints"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { describeSchedule } from "@outreach/domain/deliveries/deliverySchedule"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { EndpointId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { HOUR_MS, OutcomesChart } from "../../components/charts/Histogram.tsx"
import { Facts, LinkLine, Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Code, ForeignText, IdLink, Time } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { FailureSentence } from "../deliveries/Deliveries.tsx"
import { causeColumns } from "../issues/issuePage.tsx"
import { readSecrets } from "../partners/Secrets.tsx"
import { EndpointActions, EndpointSettings } from "./endpointActions.tsx"
import { EndpointBadge } from "./endpointsPage.tsx"

const MAX_FAILURES = 5
const OUTCOME_HOURS = 24
const OUTCOME_STEP_SECONDS = 900

export const endpointPage = definePage("/endpoints/:endpoint", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }, { now, operator }) {
    const endpoints = yield* EndpointRepository
    const endpoint = yield* endpoints.find(id)
    const { organizationId } = endpoint
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const outcomes = yield* readOutcomes(id, now)
    const groups = yield* FailureGroupReader
    const cause = yield* groups.current(endpoint)
    const causes = yield* groups.list({ endpointId: id }, MAX_FAILURES)
    const secrets = yield* readSecrets(organization, endpoint)
    const schedule = describeSchedule(endpoint.retryDelays, (yield* ConsoleConfig).webhookRetryDelays)
    const isPresent = endpoint.removedAt === null
    return (
      <Page
        title={<ForeignText>{endpoint.url}</ForeignText>}
        state={
          <>
            <EndpointBadge endpoint={endpoint} /> {endpointState(endpoint).sentence}
          </>
        }
        id={id}
        commands={[
          ops("endpoints show", id),
          ops("secrets list", endpoint.ownSecrets ? { endpoint: id } : { organization: organizationId }),
        ]}
      >
        {isPresent && <CurrentCause cause={cause} />}
        <Facts facts={{ ...factsOf(endpoint, organization.name, operator), "Retry schedule": schedule }} />
        {isPresent && <EndpointActions endpoint={endpoint} />}
        <Failures causes={causes} endpointId={id} />
        {outcomes}
        {isPresent && secrets}
        {isPresent && <EndpointSettings endpoint={endpoint} />}
      </Page>
    )
  }),
})

const factsOf = (endpoint: EndpointStatus, organizationName: string, { role }: Operator) => {
  const { lagEvents, lagSeconds, waiting, oldestDueAt, nextProbeAt } = endpoint
  const events = `${formatCapped(lagEvents, COUNT_CAP)} event${lagEvents === 1 ? "" : "s"}`
  return {
    Organization: <IdLink id={endpoint.organizationId}>{organizationName}</IdLink>,
    Lag: lagEvents === 0 ? "none" : `${events}, ${formatDuration(lagSeconds)}`,
    "Position in the log": <Time at={endpoint.position} />,
    Waiting: `${formatCapped(waiting, COUNT_CAP)} ${waiting === 1 ? "delivery" : "deliveries"}`,
    "Calls in progress": formatCount(endpoint.inFlight),
    "Oldest due": oldestDueAt && <Time at={oldestDueAt} />,
    "Consecutive failures": endpoint.failures > 0 && formatCount(endpoint.failures),
    "Next probe": nextProbeAt && <Time at={nextProbeAt} />,
    "Failing since": endpoint.failingSince && <Time at={endpoint.failingSince} />,
    Disabled: endpoint.disabledAt && <Time at={endpoint.disabledAt} />,
    "Served by": role !== "partner" && (endpoint.owner === null ? "no worker" : <Code>{endpoint.owner}</Code>),
    ...describeSettings(endpoint),
    Created: <Time at={endpoint.createdAt} />,
    Removed: endpoint.removedAt && <Time at={endpoint.removedAt} />,
  }
}

/** The reason of the last failure, while calls fail. */
const CurrentCause = ({ cause }: { readonly cause: FailureGroup | null }) =>
  cause && (
    <p class="problem">
      <FailureSentence {...cause} /> Last failure: <Time at={cause.lastAt} />.{" "}
      <a href={`/issues/${cause.id}`}>Open the issue to replay</a>.
    </p>
  )

const Failures = (props: { readonly causes: ReadonlyArray<FailureGroup>; readonly endpointId: EndpointId }) =>
  props.causes.length > 0 && (
    <Section title="Causes of failures">
      <Table
        caption="Current causes and those with dead letters, newest failure first"
        rows={props.causes}
        columns={causeColumns}
      />
      <LinkLine to={`/issues?endpoint=${props.endpointId}`}>All failures of the endpoint</LinkLine>
    </Section>
  )

/** Reads an endpoint's success rate, its latencies, and the outcomes over time. */
const readOutcomes = Effect.fnUntraced(function* (endpointId: EndpointId, now: number) {
  const outcomes = yield* DeliveryOutcomeReader
  const stepMs = OUTCOME_STEP_SECONDS * 1000
  const range = { endpointId, from: fromUnixMillis(now - OUTCOME_HOURS * HOUR_MS), to: fromUnixMillis(now + stepMs) }
  const summary = yield* outcomes.summary(range)
  const steps = yield* outcomes.histogram(range, OUTCOME_STEP_SECONDS)
  const { calls, delivered, deadLetters, p50Ms, p99Ms } = summary
  const to = Math.ceil(now / stepMs) * stepMs
  return (
    <Section title={`Calls, last ${OUTCOME_HOURS} hours`}>
      <Facts
        facts={{
          "Success rate": calls === 0 ? "no calls" : `${formatShare(delivered / calls)} of ${formatCount(calls)} calls`,
          "Median latency": p50Ms === null ? "–" : `${formatMillis(p50Ms)} (p50)`,
          "p99 latency": p99Ms === null ? "–" : `${formatMillis(p99Ms)} (p99)`,
          Failed: <a href={`/deliveries?endpoint=${endpointId}`}>{formatCount(calls - delivered)}</a>,
          "Dead letters": <a href={`/issues?endpoint=${endpointId}`}>{formatCount(deadLetters)}</a>,
        }}
      />
      <OutcomesChart
        title="Outcomes of calls"
        rows={steps}
        stepMs={stepMs}
        from={to - OUTCOME_HOURS * HOUR_MS}
        to={to}
        empty="No calls."
      />
    </Section>
  )
})
