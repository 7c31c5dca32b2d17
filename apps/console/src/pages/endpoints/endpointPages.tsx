import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCapped, formatDuration, formatMillis, formatShare } from "@outreach/backoffice/format"
import {
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayEvents,
  testEndpoint,
} from "@outreach/backoffice/operations/endpointActions"
import {
  createEndpoint,
  describeSettings,
  endpoints,
  showEndpoint,
  updateEndpoint,
} from "@outreach/backoffice/operations/endpoints"
import { issues } from "@outreach/backoffice/operations/issues"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import { describeSchedule } from "@outreach/domain/deliveries/deliverySchedule"
import * as Endpoints from "@outreach/domain/deliveries/Endpoints"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import type { EndpointId } from "@outreach/domain/Identifier"
import { isPartner } from "@outreach/domain/operators/Operator"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Struct } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink, FilterBar, RevealForm } from "../../components/forms.tsx"
import { DAY_MS } from "../../components/Histogram.tsx"
import { Facts, LinkLine, Page, Section } from "../../components/layout.tsx"
import { Code, ForeignBlock, ForeignText, Id, renderValue, StatusBadge, Time } from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineAction, defineMaskedPage } from "../../http/Route.ts"
import { pickDefined } from "../../view/inputs.ts"
import { FailureSentence, readCalls } from "../deliveries/deliveriesPage.tsx"
import { readSecrets } from "../partners/Secrets.tsx"

export const newEndpoint = { title: "Add an endpoint", action: operationAction("/endpoints/new", createEndpoint) }

const endpointsPages = listPage("/endpoints", endpoints, {
  create: newEndpoint,
  *around({ filter: { organizationId }, context: { now } }) {
    const period = { from: fromUnixMillis(now - DAY_MS), to: fromUnixMillis(now) }
    const outcomes = yield* (yield* DeliveryOutcomeReader).summaries({ ...pickDefined({ organizationId }), ...period })
    const ofEndpoint = (id: EndpointId) => outcomes.get(id) ?? { calls: 0, delivered: 0, p99Ms: null }
    return {
      cells: {
        calls: ({ id }) => ofEndpoint(id).calls,
        accepted: ({ id }) => formatShare(ofEndpoint(id).delivered / ofEndpoint(id).calls),
        p99Ms: ({ id }) => formatMillis(ofEndpoint(id).p99Ms),
      },
    }
  },
})

const MAX_FAILURES = 5

const endpointPages = defineMaskedPage("/endpoints/:endpoint", showEndpoint, {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }, { now, operator, ...masking }) {
    const endpoints = yield* EndpointRepository
    const endpoint = yield* endpoints.find(id)
    const { organizationId, enabled, lagEvents, lagSeconds, waiting, oldestDueAt, nextProbeAt } = endpoint
    const params = { endpoint: id }
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const calls = yield* readCalls({ endpointId: id }, now)
    const groups = yield* FailureGroupReader
    const cause = yield* groups.current(endpoint)
    const causes = yield* groups.list({ endpointId: id }, MAX_FAILURES)
    const secrets = yield* readSecrets(organizationId, endpoint)
    const schedule = describeSchedule(endpoint.retryDelays, (yield* ConsoleConfig).webhookRetryDelays)
    const isPresent = endpoint.removedAt === null
    return (
      <Page
        title={<ForeignText>{endpoint.url}</ForeignText>}
        state={
          <>
            {renderValue(endpointState(endpoint))} {endpointState(endpoint).sentence}
          </>
        }
        id={id}
        commands={[
          ["endpoints show", id, { reveal: masking.isShown }],
          ["secrets list", endpoint.ownSecrets ? { endpoint: id } : { organization: organizationId }],
        ]}
      >
        {masking.isShown && <ForeignBlock>{yield* endpoints.address(id)}</ForeignBlock>}
        {isPresent && cause && (
          <p class="problem">
            <FailureSentence {...cause} /> Last failure: <Time at={cause.lastAt} />.{" "}
            <a href={`/issues/${cause.id}`}>Open the issue to replay</a>.
          </p>
        )}
        <Facts
          facts={{
            Organization: organization,
            Lag:
              lagEvents === 0
                ? "none"
                : `${formatCapped(lagEvents, COUNT_CAP)} event${lagEvents === 1 ? "" : "s"}, ${formatDuration(lagSeconds)}`,
            "Position in the log": { at: endpoint.position },
            Waiting: `${formatCapped(waiting, COUNT_CAP)} ${waiting === 1 ? "delivery" : "deliveries"}`,
            "Calls in progress": endpoint.inFlight,
            "Oldest due": oldestDueAt && { at: oldestDueAt },
            "Consecutive failures": endpoint.failures > 0 && endpoint.failures,
            "Next probe": nextProbeAt && { at: nextProbeAt },
            "Failing since": endpoint.failingSince && { at: endpoint.failingSince },
            Disabled: endpoint.disabledAt && { at: endpoint.disabledAt },
            "Served by":
              !isPartner(operator) && (endpoint.owner === null ? "no worker" : <Code>{endpoint.owner}</Code>),
            ...describeSettings(endpoint),
            Created: { at: endpoint.createdAt },
            Removed: endpoint.removedAt && { at: endpoint.removedAt },
            "Retry schedule": schedule,
          }}
        />
        {isPresent && (
          <div class="actions">
            <ActionForm action={testAction} params={params} isPrimary={enabled} />
            <RevealForm {...masking} label={showEndpoint.label} />
            {enabled ? (
              <ConfirmLink page={disableRoutes[0]} params={params} isDangerous />
            ) : (
              <ConfirmLink page={enableRoutes[0]} params={params} isPrimary />
            )}
            <ConfirmLink page={replayRoutes[0]} params={params} />
            <ConfirmLink page={removeRoutes[0]} params={params} isDangerous />
          </div>
        )}
        {causes.length > 0 && (
          <Section title="Causes of failures">
            <ListTable
              caption="Current causes and those with dead letters, newest failure first"
              list={{ columns: Struct.omit(issues.columns, ["endpoint"]) }}
              rows={causes}
            />
            <LinkLine to={`/issues?endpoint=${id}`}>All failures of the endpoint</LinkLine>
          </Section>
        )}
        {calls}
        {isPresent && secrets}
        {isPresent && (
          <Section title="Settings">
            <ActionForm
              action={updateAction}
              params={params}
              found={endpoint}
              // The shown address and headers lack their secret parts.
              controls={{
                url: { value: undefined, placeholder: endpoint.url },
                headers: { value: undefined, placeholder: endpoint.headers.join("\n") },
              }}
            />
          </Section>
        )}
      </Page>
    )
  }),
})

// A test event that isn't accepted is a result, not a failed action.
const testAction = defineAction("/endpoints/:endpoint/test", testEndpoint, {
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const test = yield* Effect.catchTag(Endpoints.testEndpoint(endpoint), "EndpointTestFailed", Effect.succeed)
    const isAccepted = test.outcome === "success"
    return (
      <Page title="Test event" commands={[["endpoints test", endpoint]]}>
        <p>
          <StatusBadge tone={isAccepted ? "good" : "bad"}>{isAccepted ? "Accepted" : "Not accepted"}</StatusBadge> The
          test isn't recorded and doesn't change the breaker.
        </p>
        <Facts facts={{ Address: test.url, Event: <Id>{test.eventId}</Id>, Result: Endpoints.describeTest(test) }} />
        <h2>Response</h2>
        {test.response === null ? <p>The response has no body.</p> : <ForeignBlock>{test.response}</ForeignBlock>}
        <LinkLine to={`/endpoints/${endpoint}`}>Back to the endpoint</LinkLine>
      </Page>
    )
  }),
})
const updateAction = operationAction("/endpoints/:endpoint/update", updateEndpoint)
const disableRoutes = operationConfirmation("/endpoints/:endpoint/disable", disableEndpoint)
const removeRoutes = operationConfirmation("/endpoints/:endpoint/remove", removeEndpoint)
const enableRoutes = operationConfirmation("/endpoints/:endpoint/enable", enableEndpoint, {
  controls: ({ facts }) => (facts?.["Missed events"] === undefined ? { "replay-missed": false, rate: false } : {}),
})

const period = Struct.omit(replayEvents.input, ["rate"])
const replayRoutes = operationConfirmation("/endpoints/:endpoint/replay", replayEvents, {
  chosen: Struct.keys(period),
  children: (_, input) => (
    <>
      <h2>Period</h2>
      <FilterBar inputs={period} values={Struct.pick(input, Struct.keys(period))} />
    </>
  ),
})

export const endpointRoutes = [
  ...[...endpointsPages, newEndpoint.action],
  ...endpointPages,
  ...[testAction, updateAction],
  ...[...disableRoutes, ...enableRoutes, ...removeRoutes, ...replayRoutes],
] as const
