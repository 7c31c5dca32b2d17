import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCapped, formatCounted, formatDuration, formatMillis, formatShare } from "@outreach/backoffice/format"
import { deliveries, retryDeliveries } from "@outreach/backoffice/operations/deliveries"
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
import { describeSchedule } from "@outreach/domain/deliveries/deliverySchedule"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import * as Endpoints from "@outreach/domain/deliveries/Endpoints"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import type { Replay } from "@outreach/domain/deliveries/Replays"
import type { EndpointId } from "@outreach/domain/Identifier"
import { isPartner } from "@outreach/domain/operators/Operator"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, String as Str, Struct } from "effect"
import type { ComponentChildren } from "preact"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink, FilterBar, RevealForm } from "../../components/forms.tsx"
import { DAY_MS } from "../../components/Histogram.tsx"
import { Chips, Facts, LinkLine, Live, Page, Section } from "../../components/layout.tsx"
import type { Command } from "../../components/ops.ts"
import {
  Code,
  ForeignBlock,
  ForeignText,
  foreign,
  Id,
  renderValue,
  StatusBadge,
  Time,
} from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineAction, defineMaskedPage, definePage } from "../../http/Route.ts"
import { pickDefined } from "../../view/inputs.ts"
import { FailureSentence, readCalls } from "../deliveries/deliveriesPage.tsx"
import { REFRESH_SECONDS, RunningReplays, replayRoutes } from "../issues/issuePages.tsx"
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
const MAX_JOBS = 5
const MAX_DELIVERIES = 20

/** The frame of the pages of an endpoint: its state, and tabs. */
const EndpointPage = (props: {
  readonly endpoint: EndpointStatus
  /** The last part of the page's path. Default: its first page. */
  readonly part?: "deliveries" | "secrets" | "settings"
  readonly commands: ReadonlyArray<Command | false>
  readonly children: ComponentChildren
}) => {
  const { endpoint, part = "", commands, children } = props
  const { id, url, removedAt } = endpoint
  const path = `/endpoints/${id}`
  const pathOf = (tab: string) => (tab === "" ? path : `${path}/${tab}`)
  const isPresent = removedAt === null
  return (
    <Page
      title={part === "" ? <ForeignText>{url}</ForeignText> : foreign`${Str.capitalize(part)} of ${url}`}
      state={renderValue(endpointState(endpoint))}
      id={id}
      commands={commands}
    >
      <Chips
        label="Parts of the endpoint"
        of={[
          [path, "Overview"],
          [pathOf("deliveries"), "Deliveries"],
          isPresent && [pathOf("secrets"), "Secrets"],
          isPresent && [pathOf("settings"), "Settings"],
        ]}
        chosen={pathOf(part)}
      />
      {children}
    </Page>
  )
}

/** The problem of an endpoint, its waiting deliveries, and the remedies. All facts are of one moment. */
const StateCard = (props: {
  readonly endpoint: EndpointStatus
  readonly cause: Effect.Success<ReturnType<typeof readCause>>
  readonly jobs: ReadonlyArray<Replay>
}) => {
  const { endpoint, cause, jobs } = props
  const { id, enabled, removedAt, dueLater, deadLetters, failingSince, nextProbeAt, oldestDueAt } = endpoint
  const { tone, word, sentence } = endpointState(endpoint)
  const params = { endpoint: id }
  const isPresent = removedAt === null
  const isSending = jobs.some(({ kind }) => kind === "waiting")
  const maySend = enabled && dueLater > 0 && !isSending
  return (
    <Live id="state" seconds={jobs.length > 0 ? REFRESH_SECONDS : undefined}>
      <section class={`tile ${tone}`} aria-label="State">
        <p>
          <strong>{word}</strong>: {sentence}
        </p>
        {isPresent && cause && (
          <p>
            <FailureSentence {...cause} /> Last failure: <Time at={cause.lastAt} />.{" "}
            <a href={`/issues/${cause.id}`}>Open the issue</a>.
          </p>
        )}
        <Facts
          facts={{
            Since: (failingSince ?? cause?.openedAt) && { at: failingSince ?? cause!.openedAt },
            Disabled: endpoint.disabledAt && { at: endpoint.disabledAt },
            "Waiting for the next attempt": {
              to: `/deliveries?endpoint=${id}&state=pending`,
              name: formatCapped(dueLater),
            },
            "Dead letters": { to: `/dead-letters?endpoint=${id}`, name: deadLetters },
            "Consecutive failures": endpoint.failures > 0 && endpoint.failures,
            "Next probe": nextProbeAt && { at: nextProbeAt },
            "Oldest due": oldestDueAt && { at: oldestDueAt },
          }}
        />
        <RunningReplays rows={jobs} />
        {isPresent && (
          <div class="actions">
            {!enabled && <ConfirmLink page={enableRoutes[0]} params={params} isPrimary />}
            {maySend && (
              <ConfirmLink
                page={retryRoutes[0]}
                params={params}
                label={`Send ${formatCapped(dueLater)} now`}
                isPrimary
              />
            )}
            {deadLetters > 0 && (
              <ConfirmLink
                page={replayRoutes[0]}
                query={params}
                label={`Replay ${formatCounted(deadLetters, "dead letter")}`}
                isPrimary={enabled && !maySend}
              />
            )}
            <ActionForm action={testAction} params={params} isPrimary={enabled && !maySend && deadLetters === 0} />
          </div>
        )}
      </section>
    </Live>
  )
}

const readCause = (endpoint: EndpointStatus) => FailureGroupReader.use(({ current }) => current(endpoint))

const overviewPages = defineMaskedPage("/endpoints/:endpoint", showEndpoint, {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }, { operator, ...masking }) {
    const endpoints = yield* EndpointRepository
    const endpoint = yield* endpoints.find(id)
    const { lagEvents, lagSeconds, waiting } = endpoint
    const params = { endpoint: id }
    const organization = yield* (yield* OrganizationReader).find(endpoint.organizationId)
    const cause = yield* readCause(endpoint)
    const causes = yield* (yield* FailureGroupReader).list({ endpointId: id }, MAX_FAILURES)
    const jobs = yield* (yield* ReplayReader).running(id, MAX_JOBS)
    return (
      <EndpointPage
        endpoint={endpoint}
        commands={[
          ["endpoints show", id, { reveal: masking.isShown }],
          ["endpoints test", id],
          endpoint.dueLater > 0 && ["deliveries retry", { endpoint: id, detach: true }],
        ]}
      >
        {masking.isShown && <ForeignBlock>{yield* endpoints.address(id)}</ForeignBlock>}
        <StateCard {...{ endpoint, cause, jobs }} />
        <Facts
          facts={{
            Organization: organization,
            Lag:
              lagEvents === 0
                ? "none"
                : `${formatCapped(lagEvents)} event${lagEvents === 1 ? "" : "s"}, ${formatDuration(lagSeconds)}`,
            "Position in the log": { at: endpoint.position },
            "Not in progress, due or not": `${formatCapped(waiting)} ${waiting === 1 ? "delivery" : "deliveries"}`,
            "Calls in progress": endpoint.inFlight,
            "Served by":
              !isPartner(operator) && (endpoint.owner === null ? "no worker" : <Code>{endpoint.owner}</Code>),
            Created: { at: endpoint.createdAt },
            Removed: endpoint.removedAt && { at: endpoint.removedAt },
          }}
        />
        {endpoint.removedAt === null && (
          <div class="actions">
            <RevealForm {...masking} label={showEndpoint.label} />
            <ConfirmLink page={eventsRoutes[0]} params={params} />
            {endpoint.enabled && <ConfirmLink page={disableRoutes[0]} params={params} isDangerous />}
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
      </EndpointPage>
    )
  }),
})

const deliveriesPage = definePage("/endpoints/:endpoint/deliveries", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }, { now }) {
    const filter = { endpointId: id }
    const endpoint = yield* EndpointRepository.use(({ find }) => find(id))
    const { rows } = yield* DeliveryReader.use(({ list }) => list(filter, MAX_DELIVERIES))
    return (
      <EndpointPage endpoint={endpoint} part="deliveries" commands={[["deliveries list", { endpoint: id }]]}>
        {yield* readCalls(filter, now)}
        <ListTable
          title="Newest deliveries"
          list={{ ...deliveries, columns: Struct.omit(deliveries.columns, ["endpointId"]) }}
          rows={rows}
        />
        <LinkLine to={`/deliveries?endpoint=${id}`}>All deliveries of the endpoint</LinkLine>
      </EndpointPage>
    )
  }),
})

const secretsPage = definePage("/endpoints/:endpoint/secrets", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }) {
    const endpoint = yield* Endpoints.findPresentEndpoint(id)
    const { organizationId, ownSecrets } = endpoint
    const owner = ownSecrets ? { endpoint: id } : { organization: organizationId }
    return (
      <EndpointPage endpoint={endpoint} part="secrets" commands={[["secrets list", owner]]}>
        {yield* readSecrets(organizationId, endpoint)}
      </EndpointPage>
    )
  }),
})

const settingsPage = definePage("/endpoints/:endpoint/settings", {
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint: id }) {
    const endpoint = yield* Endpoints.findPresentEndpoint(id)
    const schedule = describeSchedule(endpoint.retryDelays, (yield* ConsoleConfig).webhookRetryDelays)
    return (
      <EndpointPage endpoint={endpoint} part="settings" commands={[["endpoints show", id]]}>
        <Facts facts={{ ...describeSettings(endpoint), "Retry schedule": schedule }} />
        <ActionForm
          action={updateAction}
          params={{ endpoint: id }}
          found={endpoint}
          // The shown address and headers lack their secret parts.
          controls={{
            url: { value: undefined, placeholder: endpoint.url },
            headers: { value: undefined, placeholder: endpoint.headers.join("\n") },
          }}
        />
        <ActionForm action={testAction} params={{ endpoint: id }} />
      </EndpointPage>
    )
  }),
})

// A test event that isn't accepted is a result, not a failed action.
const testAction = defineAction("/endpoints/:endpoint/test", testEndpoint, {
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const test = yield* Effect.catchTag(Endpoints.testEndpoint(endpoint), "EndpointTestFailed", Effect.succeed)
    const dueLater = "dueLater" in test ? test.dueLater : 0
    const isAccepted = test.outcome === "success"
    return (
      <Page title="Test event" commands={[["endpoints test", endpoint]]}>
        <p>
          <StatusBadge tone={isAccepted ? "good" : "bad"}>{isAccepted ? "Accepted" : "Not accepted"}</StatusBadge> The
          test isn't recorded and doesn't change the breaker.
        </p>
        {dueLater > 0 && (
          <ActionForm
            action={retryRoutes[1]}
            params={{ endpoint }}
            label="Send them now"
            controls={{ rate: false, typed: false }}
            isPrimary
          >
            <span>
              {formatCapped(dueLater)} {dueLater === 1 ? "delivery is" : "deliveries are"} waiting for a later attempt.
            </span>
          </ActionForm>
        )}
        <Facts facts={{ Address: test.url, Event: <Id>{test.eventId}</Id>, Result: Endpoints.describeTest(test) }} />
        <h2>Response</h2>
        {test.response === null ? <p>The response has no body.</p> : <ForeignBlock>{test.response}</ForeignBlock>}
        <LinkLine to={`/endpoints/${endpoint}`}>Back to the endpoint</LinkLine>
      </Page>
    )
  }),
})
const retryRoutes = operationConfirmation("/endpoints/:endpoint/retry", retryDeliveries, {
  omit: ["deliveryId", "groupId"],
  chosen: ["endpointId"],
})
const updateAction = operationAction("/endpoints/:endpoint/update", updateEndpoint, {
  to: ({ endpointId }) => `/endpoints/${endpointId}/settings`,
})
const disableRoutes = operationConfirmation("/endpoints/:endpoint/disable", disableEndpoint)
const removeRoutes = operationConfirmation("/endpoints/:endpoint/remove", removeEndpoint)
const enableRoutes = operationConfirmation("/endpoints/:endpoint/enable", enableEndpoint, {
  controls: ({ facts }) => (facts?.["Missed events"] === undefined ? { "replay-missed": false, rate: false } : {}),
})

const period = Struct.omit(replayEvents.input, ["rate"])
const eventsRoutes = operationConfirmation("/endpoints/:endpoint/replay", replayEvents, {
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
  ...[...overviewPages, deliveriesPage, secretsPage, settingsPage],
  ...[testAction, updateAction, ...retryRoutes],
  ...[...disableRoutes, ...enableRoutes, ...removeRoutes, ...eventsRoutes],
] as const
