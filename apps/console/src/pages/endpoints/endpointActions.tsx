import { countOrNone, formatMillis } from "@outreach/backoffice/format"
import { checkBoxes, choice, field, required } from "@outreach/backoffice/operations/Field"
import { formatRetryDelays, RetryDelays, toRetryDelays } from "@outreach/domain/deliveries/deliverySchedule"
import { type Endpoint, type EndpointStatus, InFlight, PerSecond } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { testEndpoint, updateEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { formatRetryStatuses, RetryStatuses, toRetryStatuses } from "@outreach/domain/deliveries/RetryStatuses"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { Effect, Schema } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Facts, LinkLine, Page, Section } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { ForeignBlock, Id, StatusBadge } from "../../components/values.tsx"
import { rejectStale } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"
import { disableRoutes, enableRoutes, removeRoutes } from "./endpointConfirmations.tsx"
import { replayLogRoutes } from "./replayLogPage.tsx"

const ALL_TYPES = "all"

const MAX_SHOWN = 500

const testAction = defineAction("/endpoints/:endpoint/test", "endpoints test", {
  forPartners: true,
  role: "operator",
  run: Effect.fnUntraced(function* ({ endpoint }) {
    const { delivered, url, eventId, status, outcome, latencyMs, response } = yield* testEndpoint(endpoint)
    return (
      <Page title="Test event" commands={[ops("endpoints test", endpoint)]}>
        <p>
          <StatusBadge tone={delivered ? "good" : "bad"}>{delivered ? "Accepted" : "Not accepted"}</StatusBadge> The
          test isn't recorded and doesn't change the breaker.
        </p>
        <Facts
          facts={{
            Address: url,
            Event: <Id>{eventId}</Id>,
            Status: status ?? "none",
            Outcome: outcome,
            Latency: formatMillis(latencyMs),
          }}
        />
        <h2>Response</h2>
        {response === null ? (
          <p>The response has no body.</p>
        ) : (
          <ForeignBlock>{response.slice(0, MAX_SHOWN)}</ForeignBlock>
        )}
        <LinkLine to={`/endpoints/${endpoint}`}>Back to the endpoint</LinkLine>
      </Page>
    )
  }),
})

const showAction = defineAction("/endpoints/:endpoint/show", "endpoints show", {
  forPartners: true,
  role: "operator",
  isRepeatable: true,
  inputs: { reveal: required(Schema.Literal("true")) },
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

export const headersText = (isSent: boolean): string => (isSent ? "sent" : "not sent")

export const failingText = (isDisabled: boolean): string =>
  isDisabled ? "notify the contacts and disable it" : "keep calling it, without notification"

const updateAction = defineAction("/endpoints/:endpoint/update", "endpoints update", {
  role: "admin",
  inputs: {
    url: field(Schema.String.annotate({ expected: "an https address" }), "Address", {
      inputmode: "url",
      hint: "Empty: no change. A new address resets the failure count.",
      size: 48,
    }),
    types: checkBoxes("Event types", [ALL_TYPES, ...outboundEventTypes]),
    "per-second": field(PerSecond, "Calls per second", { hint: "1 to 10,000, or none", size: 8 }),
    "in-flight": field(InFlight, "Concurrent calls", {
      hint: "1 to 1,000, or none for the workers’ default, which is also the maximum",
      size: 8,
    }),
    "retry-statuses": field(RetryStatuses, "Retry statuses", {
      hint: "Statuses to retry, such as 408,429,503, with Retry-After; 410=disable disables the endpoint on 410; none: no 4xx is retried",
    }),
    "retry-schedule": field(RetryDelays, "Delays between attempts", {
      hint: "Such as 10s,1m,1h: at most 19, each up to 7d; default: the deployment's schedule. After five consecutive failures calls are sent one by one, so delays can be longer.",
      size: 32,
    }),
    "standard-webhooks": choice("Standard Webhooks headers", [
      ["no", headersText(false)],
      ["yes", headersText(true)],
    ]),
    "disable-when-failing": choice("When every call fails", [
      ["yes", failingText(true)],
      ["no", failingText(false)],
    ]),
  },
  run: Effect.fnUntraced(function* ({ endpoint, url, types, ...given }, { version }) {
    const { allowPrivateAddresses } = yield* ConsoleConfig
    const find = (yield* EndpointRepository).find(endpoint)
    const now = yield* find
    const standardWebhooks = given["standard-webhooks"]
    const disableWhenFailing = given["disable-when-failing"]
    const changes = changesOf(now, {
      eventTypes: types?.includes(ALL_TYPES) ? null : (types as Changes["eventTypes"]),
      perSecond: given["per-second"],
      maxInFlight: given["in-flight"],
      standardWebhooks: standardWebhooks === undefined ? undefined : standardWebhooks === "yes",
      ...(given["retry-statuses"] && toRetryStatuses(given["retry-statuses"])),
      retryDelays: given["retry-schedule"] && toRetryDelays(given["retry-schedule"]),
      disableWhenFailing: disableWhenFailing === undefined ? undefined : disableWhenFailing === "yes",
      url,
    })
    if (Object.keys(changes).length === 0) return "No change: these are the current settings."
    // The given URL can contain a secret.
    const wanted = { ...settingsOf({ ...now, ...changes, url: now.url }), ...(changes.url && { Address: "different" }) }
    const change = updateEndpoint(endpoint, changes, { allowPrivate: allowPrivateAddresses, version })
    yield* rejectStale(Effect.map(find, settingsOf), wanted)(change)
    return "Saved. Pending deliveries use the new settings, too."
  }),
})

export const typesText = (types: Endpoint["eventTypes"]): string =>
  types === null ? "all" : types.join(", ") || "none"

const settingsOf = ({
  url,
  eventTypes,
  perSecond,
  maxInFlight,
  retryDelays,
  standardWebhooks,
  disableWhenFailing,
  ...endpoint
}: Endpoint) => ({
  Address: url,
  "Event types": typesText(eventTypes),
  "Calls per second": countOrNone(perSecond),
  "Concurrent calls": countOrNone(maxInFlight),
  "Retry statuses": formatRetryStatuses(endpoint),
  "Delays between attempts": formatRetryDelays(retryDelays),
  "Standard Webhooks headers": headersText(standardWebhooks),
  "When every call fails": failingText(disableWhenFailing),
})

type Changes = Parameters<typeof updateEndpoint>[1]

/** Returns the given values that differ. New event types create a row for each waiting event, so unchanged types are omitted. */
const changesOf = (now: Endpoint, given: { readonly [Name in keyof Changes]: Changes[Name] | undefined }): Changes =>
  Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(now[name as keyof Endpoint]),
    ),
  )

export const endpointActions = [testAction, showAction, updateAction] as const

export const EndpointActions = ({ endpoint: { id, enabled } }: { readonly endpoint: EndpointStatus }) => {
  const params = { endpoint: id }
  return (
    <div class="actions">
      <ActionForm action={testAction} params={params} label="Send a test event" isPrimary={enabled} />
      <ActionForm action={showAction} params={params} hidden={{ reveal: true }} label="Show the full address" />
      {enabled ? (
        <ConfirmLink page={disableRoutes[0]} params={params} label="Disable" isDangerous />
      ) : (
        <ConfirmLink page={enableRoutes[0]} params={params} label="Enable" isPrimary />
      )}
      <ConfirmLink page={replayLogRoutes[0]} params={params} label="Replay a period" />
      <ConfirmLink page={removeRoutes[0]} params={params} label="Remove" isDangerous />
    </div>
  )
}

export const EndpointSettings = (props: { readonly endpoint: EndpointStatus }) => {
  const { id, url, eventTypes, perSecond, maxInFlight, retryDelays, standardWebhooks, disableWhenFailing, version } =
    props.endpoint
  return (
    <Section title="Settings">
      <ActionForm
        action={updateAction}
        params={{ endpoint: id }}
        label="Change"
        version={String(version)}
        controls={{
          url: { placeholder: url },
          types: { value: eventTypes ?? [ALL_TYPES] },
          "per-second": { value: countOrNone(perSecond) },
          "in-flight": { value: countOrNone(maxInFlight) },
          "retry-statuses": { value: formatRetryStatuses(props.endpoint) },
          "retry-schedule": { value: formatRetryDelays(retryDelays) },
          "standard-webhooks": { value: standardWebhooks ? "yes" : "no" },
          "disable-when-failing": { value: disableWhenFailing ? "yes" : "no" },
        }}
      />
    </Section>
  )
}
