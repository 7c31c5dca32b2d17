import {
  disableEndpoint,
  enableEndpoint,
  removeEndpoint,
  replayEvents,
  showEndpoint,
  testEndpoint,
  updateEndpoint,
} from "@outreach/backoffice/operations/endpoints"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import * as Endpoints from "@outreach/domain/deliveries/Endpoints"
import { Effect, Struct } from "effect"
import { ActionForm, ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Facts, LinkLine, Page, Section } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignBlock, Id, StatusBadge } from "../../components/values.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import { defineAction } from "../../http/Route.ts"

const showAction = defineAction("/endpoints/:endpoint/show", showEndpoint.command, {
  forPartners: true,
  role: "operator",
  isRepeatable: true,
  flags: { reveal: true },
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const address = yield* (yield* EndpointRepository).address(endpoint)
    return (
      <Page title="Address of an endpoint" commands={[ops("endpoints show", endpoint, { reveal: true })]}>
        <ForeignBlock>{address}</ForeignBlock>
        <LinkLine to={`/endpoints/${endpoint}`}>Back to the endpoint</LinkLine>
      </Page>
    )
  }),
})

// A test event that isn't accepted is a result, not a failed action.
const testAction = defineAction("/endpoints/:endpoint/test", testEndpoint.command, {
  role: testEndpoint.role,
  forPartners: true,
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const test = yield* Effect.catchTag(Endpoints.testEndpoint(endpoint), "EndpointTestFailed", Effect.succeed)
    const isAccepted = test.outcome === "success"
    return (
      <Page title="Test event" commands={[ops("endpoints test", endpoint)]}>
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

export const endpointActions = [
  ...[testAction, showAction, updateAction],
  ...[...disableRoutes, ...enableRoutes, ...removeRoutes, ...replayRoutes],
] as const

export const EndpointActions = ({ endpoint: { id, enabled } }: { readonly endpoint: EndpointStatus }) => {
  const params = { endpoint: id }
  return (
    <div class="actions">
      <ActionForm action={testAction} params={params} label={testEndpoint.label} isPrimary={enabled} />
      <ActionForm action={showAction} params={params} label="Show the full address" />
      {enabled ? (
        <ConfirmLink page={disableRoutes[0]} params={params} label="Disable" isDangerous />
      ) : (
        <ConfirmLink page={enableRoutes[0]} params={params} label="Enable" isPrimary />
      )}
      <ConfirmLink page={replayRoutes[0]} params={params} label="Replay a period" />
      <ConfirmLink page={removeRoutes[0]} params={params} label="Remove" isDangerous />
    </div>
  )
}

export const EndpointSettings = ({ endpoint }: { readonly endpoint: EndpointStatus }) => (
  <Section title="Settings">
    <ActionForm
      action={updateAction}
      params={{ endpoint: endpoint.id }}
      found={endpoint}
      // The shown address lacks parts that may be secret.
      controls={{ url: { value: undefined, placeholder: endpoint.url } }}
    />
  </Section>
)
