import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { type FailureGroup, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCapped, formatCount, formatDuration } from "@outreach/backoffice/format"
import { issues } from "@outreach/backoffice/lists/issues"
import { describeSettings } from "@outreach/backoffice/operations/endpoints"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { describeSchedule } from "@outreach/domain/deliveries/deliverySchedule"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import type { EndpointId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { Effect, Struct } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { Facts, LinkLine, Page, Section } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Code, ForeignText, IdLink, Time } from "../../components/values.tsx"
import { ListTable } from "../../http/listPage.tsx"
import { definePage } from "../../http/Route.ts"
import { FailureSentence } from "../deliveries/Outcome.tsx"
import { readCalls } from "../deliveries/readCalls.tsx"
import { readSecrets } from "../partners/Secrets.tsx"
import { EndpointActions, EndpointSettings } from "./endpointActions.tsx"
import { EndpointBadge } from "./endpointsPage.tsx"

const MAX_FAILURES = 5

export const endpointPage = definePage("/endpoints/:endpoint", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }, { now, operator }) {
    const endpoints = yield* EndpointRepository
    const endpoint = yield* endpoints.find(id)
    const { organizationId } = endpoint
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const calls = yield* readCalls({ endpointId: id }, now)
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
        {calls}
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
const CurrentCause = ({ cause }: { readonly cause: FailureGroup | undefined }) =>
  cause && (
    <p class="problem">
      <FailureSentence {...cause} /> Last failure: <Time at={cause.lastAt} />.{" "}
      <a href={`/issues/${cause.id}`}>Open the issue to replay</a>.
    </p>
  )

const Failures = (props: { readonly causes: ReadonlyArray<FailureGroup>; readonly endpointId: EndpointId }) =>
  props.causes.length > 0 && (
    <Section title="Causes of failures">
      <ListTable
        caption="Current causes and those with dead letters, newest failure first"
        list={{ columns: Struct.omit(issues.columns, ["endpoint"]) }}
        rows={props.causes}
      />
      <LinkLine to={`/issues?endpoint=${props.endpointId}`}>All failures of the endpoint</LinkLine>
    </Section>
  )
