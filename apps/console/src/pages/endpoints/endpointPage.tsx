import { type FailureGroup, FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { PartnerActivityReader } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { COUNT_CAP } from "@outreach/domain/countCaps"
import type { BreakerChange, EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import type { EndpointId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { formatCapped, formatCount, formatDuration } from "../../components/format.ts"
import { ActionForm, CheckBoxes, Choice, Field } from "../../components/forms.tsx"
import { Facts, LinkLine, Table } from "../../components/lists.tsx"
import { useView } from "../../components/View.ts"
import { Code, ForeignText, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { definePage, pathTo } from "../../http/Route.ts"
import { HourlyRequests, INBOUND_WEBHOOKS, SHOWN_HOURS } from "../partners/HourlyRequests.tsx"
import { readSecrets } from "../partners/Secrets.tsx"
import { readOutcomes } from "./EndpointOutcomes.tsx"
import {
  ALL_TYPES,
  boundText,
  disableEndpointAction,
  enableEndpointAction,
  headersText,
  replayLogAction,
  showAddressAction,
  testEndpointAction,
  typesText,
  updateEndpointAction,
} from "./endpointActions.tsx"
import { EndpointBadge, endpointState } from "./endpointState.tsx"

const MAX_FAILURES = 5
const MAX_CHANGES = 20

/** One endpoint: how it answers, how far it has read, and who signs with which secret. */
export const endpointPage = definePage({
  path: "/endpoints/:endpoint",
  read: Effect.fnUntraced(function* ({ endpoint: id }, { now }) {
    const endpoints = yield* EndpointRepository
    const endpoint = yield* endpoints.find(id)
    const { organizationId } = endpoint
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    const changes = yield* endpoints.breakerChanges(id)
    const outcomes = yield* readOutcomes(id, now)
    const failures = yield* (yield* FailureGroupReader).largest({ endpointId: id }, MAX_FAILURES)
    const secrets = yield* readSecrets(organization)
    const inbound = yield* (yield* PartnerActivityReader).hourlyRequests(organizationId, SHOWN_HOURS, id)
    return {
      title: <ForeignText>{endpoint.url}</ForeignText>,
      commands: [
        `ops endpoints show ${id}`,
        `ops endpoints outcomes ${id}`,
        `ops endpoints breaker ${id}`,
        `ops secrets list --organization ${organizationId}`,
      ],
      body: (
        <>
          <State endpoint={endpoint} organizationName={organization.name} />
          <Actions endpoint={endpoint} />
          <Failures endpointId={id} groups={failures} />
          {outcomes}
          <Breaker changes={changes} />
          {secrets}
          <section>
            <h2>What the partner sends here</h2>
            <HourlyRequests
              kind={INBOUND_WEBHOOKS}
              rows={inbound}
              empty="Nothing came from the partner to this endpoint."
            />
          </section>
          <Settings endpoint={endpoint} />
        </>
      ),
    }
  }),
})

const State = (props: { readonly endpoint: EndpointStatus; readonly organizationName: string }) => {
  const { endpoint } = props
  const { lagEvents, lagSeconds, waiting, inFlight, oldestDueAt, nextProbeAt, failures } = endpoint
  const events = `${formatCapped(lagEvents, COUNT_CAP)} event${lagEvents === 1 ? "" : "s"}`
  return (
    <>
      <p>
        <EndpointBadge endpoint={endpoint} /> {endpointState(endpoint).sentence}
      </p>
      <Facts
        facts={{
          Organization: <IdLink id={endpoint.organizationId}>{props.organizationName}</IdLink>,
          Endpoint: <code>{endpoint.id}</code>,
          "Behind the log": lagEvents === 0 ? "nothing" : `${events}, ${formatDuration(lagSeconds)}`,
          "Position in the log": <Time at={endpoint.position} />,
          Waiting: `${formatCapped(waiting, COUNT_CAP)} ${waiting === 1 ? "delivery" : "deliveries"}`,
          "In flight": formatCount(inFlight),
          "In flight at most":
            endpoint.maxInFlight === null ? "the workers’ default" : formatCount(endpoint.maxInFlight),
          "Oldest due": oldestDueAt && <Time at={oldestDueAt} />,
          "Failures in a row": formatCount(failures),
          "Next probe": nextProbeAt && <Time at={nextProbeAt} />,
          "Delivered by": endpoint.owner === null ? "no worker" : <Code>{endpoint.owner}</Code>,
          "Event types": typesText(endpoint.eventTypes),
          "Standard Webhooks headers": headersText(endpoint.standardWebhooks),
          Created: <Time at={endpoint.createdAt} />,
        }}
      />
    </>
  )
}

const Actions = (props: { readonly endpoint: EndpointStatus }) => {
  const { id, enabled } = props.endpoint
  const params = { endpoint: id }
  return (
    <div class="actions">
      <ActionForm action={testEndpointAction} params={params} label="Send a test event" />
      <ActionForm action={showAddressAction} params={params} hidden={{ reveal: true }} label="Show the whole address" />
      {enabled ? (
        <ActionForm action={disableEndpointAction} params={params} label="Disable" isDangerous />
      ) : (
        <ActionForm action={enableEndpointAction} params={params} label="Enable" />
      )}
      <LinkLine to={pathTo(replayLogAction, params)}>Send a period of the log again</LinkLine>
    </div>
  )
}

const Failures = (props: { readonly endpointId: EndpointId; readonly groups: ReadonlyArray<FailureGroup> }) =>
  props.groups.length === 0 ? null : (
    <section>
      <h2>Why deliveries failed</h2>
      <Table
        caption="The largest groups of dead letters that were not replayed"
        rows={props.groups}
        columns={{
          Cause: ({ id, status, outcome, firstLine }) => (
            <>
              <a href={`/issues/${id}`}>{status === null ? outcome : `Status ${status}`}</a>
              {firstLine !== null && (
                <div>
                  <ForeignText>{firstLine}</ForeignText>
                </div>
              )}
            </>
          ),
          Reason: ({ reason }) => reason,
          "Dead letters": { count: ({ open }) => open },
          Last: ({ lastAt }) => <Time at={lastAt} />,
        }}
      />
      <LinkLine to={`/issues?endpoint=${props.endpointId}`}>All failures of the endpoint</LinkLine>
    </section>
  )

const Breaker = (props: { readonly changes: ReadonlyArray<BreakerChange> }) => (
  <section>
    <h2>Breaker</h2>
    <Table
      caption="When the breaker opened and closed, newest first"
      rows={props.changes.slice(0, MAX_CHANGES)}
      empty="The breaker has never opened: the endpoint has not failed five times in a row."
      columns={{
        "At (UTC)": ({ changedAt }) => <Time at={changedAt} />,
        It: ({ breaker }) =>
          breaker === "open" ? (
            <StatusBadge tone="bad">Opened</StatusBadge>
          ) : (
            <StatusBadge tone="good">Closed</StatusBadge>
          ),
        "Failures in a row": { count: ({ failures }) => failures },
        For: (change) => (
          <Until from={change.changedAt} to={props.changes[props.changes.indexOf(change) - 1]?.changedAt} />
        ),
      }}
    />
  </section>
)

/** How long something lasted, or has lasted. */
const Until = (props: { readonly from: string; readonly to: string | undefined }) => {
  const { now } = useView()
  const end = props.to === undefined ? now : Date.parse(props.to)
  return (
    <>
      {formatDuration((end - Date.parse(props.from)) / 1000)}
      {props.to === undefined && " until now"}
    </>
  )
}

const Settings = (props: { readonly endpoint: EndpointStatus }) => {
  const { id, url, eventTypes, maxInFlight, standardWebhooks, version } = props.endpoint
  return (
    <section>
      <h2>Settings</h2>
      <ActionForm action={updateEndpointAction} params={{ endpoint: id }} label="Change" version={String(version)}>
        <Field
          name="url"
          label="Address"
          inputmode="url"
          placeholder={url}
          hint="Empty leaves it. At a new address the failures at the old one no longer count."
          size={48}
        />
        <CheckBoxes
          name="types"
          legend="Event types"
          values={[ALL_TYPES, ...outboundEventTypes]}
          checked={eventTypes ?? [ALL_TYPES]}
        />
        <Field
          name="max-in-flight"
          label="Calls in flight"
          value={boundText(maxInFlight)}
          hint="1 to 1,000, or none for the workers’ default"
          size={8}
        />
        <Choice
          name="standard-webhooks"
          label="Standard Webhooks headers"
          value={standardWebhooks ? "yes" : "no"}
          options={[
            ["no", headersText(false)],
            ["yes", headersText(true)],
          ]}
        />
      </ActionForm>
    </section>
  )
}
