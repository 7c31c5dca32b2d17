import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { formatCapped, formatDuration, formatMillis, formatShare, nameIn } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import { choice } from "@outreach/backoffice/operations/Field"
import { organizationFilter } from "@outreach/backoffice/operations/fields"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import type { DisabledReason, EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Order } from "effect"
import { attemptsOf, HOUR_MS } from "../../components/charts/Histogram.tsx"
import { FilterBar } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Noted, StatusBadge, URGENCY } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"

const byUrgency = Order.mapInput(Order.Number, (endpoint: EndpointStatus) => URGENCY[endpointState(endpoint).tone])

const OUTCOME_HOURS = 24
const CALLS = `Calls, ${OUTCOME_HOURS} h`

const inputs = {
  organization: organizationFilter,
  state: choice(
    "State",
    [
      ["failing", "Failing"],
      ["disabled", "Disabled"],
      ["removed", "Removed"],
    ],
    { all: "All" },
  ),
}

export const endpointsPage = definePage("/endpoints", {
  forPartners: true,
  inputs,
  run: Effect.fnUntraced(function* ({ organization, state }, { now }) {
    const isRemoved = state === "removed"
    const listed = yield* (yield* EndpointRepository).list(organization, isRemoved ? "removed" : "present")
    const endpoints = listed.filter(
      ({ enabled, breaker, notices }) =>
        state === undefined ||
        isRemoved ||
        (state === "disabled" ? !enabled : enabled && (breaker !== "closed" || notices > 0)),
    )
    const organizations = yield* (yield* OrganizationReader).list
    const calls = yield* (yield* DeliveryOutcomeReader).summaries({
      ...(organization && { organizationId: organization }),
      from: fromUnixMillis(now - OUTCOME_HOURS * HOUR_MS),
      to: fromUnixMillis(now),
    })
    const callsOf = ({ id }: EndpointStatus) => {
      const outcomes = calls.get(id)
      return outcomes === undefined ? 0 : attemptsOf(outcomes)
    }
    const acceptedOf = (endpoint: EndpointStatus) => (calls.get(endpoint.id)?.delivered ?? 0) / callsOf(endpoint)
    const latencyOf = ({ id }: EndpointStatus) => calls.get(id)?.p99Ms ?? null
    return (
      <Page
        title="Endpoints"
        commands={state === undefined || isRemoved ? [ops("endpoints list", { organization, removed: isRemoved })] : []}
      >
        <FilterBar
          inputs={inputs}
          values={{ organization, state }}
          controls={{ organization: { options: organizations } }}
        />
        <Table
          label="Webhook endpoints"
          rows={endpoints.toSorted(byUrgency)}
          empty={state === undefined ? "No endpoints. Add one on the command line." : `No endpoint is ${state}.`}
          columns={{
            Address: ({ id, url }) => <IdLink id={id}>{url}</IdLink>,
            Organization: ({ organizationId: id }) => <IdLink id={id}>{nameIn(organizations, id)}</IdLink>,
            State: (endpoint) => <EndpointBadge endpoint={endpoint} />,
            [CALLS]: { count: callsOf },
            Accepted: { number: (endpoint) => formatShare(acceptedOf(endpoint)) },
            "p99 latency": {
              number: (endpoint) => {
                const latency = latencyOf(endpoint)
                return latency === null ? "–" : formatMillis(latency)
              },
            },
            Lag: {
              number: ({ lagEvents, lagSeconds }) =>
                lagEvents === 0 ? (
                  "–"
                ) : (
                  <Noted note={`${formatCapped(lagEvents, LIST_COUNT_CAP)} pending`}>
                    {formatDuration(lagSeconds)}
                  </Noted>
                ),
            },
            Waiting: { count: ({ waiting }) => waiting, cap: LIST_COUNT_CAP },
          }}
        />
      </Page>
    )
  }),
})

/** An endpoint is late if an event has waited for it longer. */
const LATE_SECONDS = 60

export interface EndpointState {
  readonly tone: Tone
  readonly word: string
  readonly sentence: string
}

const BREAKERS: Readonly<Record<Exclude<EndpointStatus["breaker"], "closed">, EndpointState>> = {
  open: {
    tone: "bad",
    word: "Breaker open",
    sentence: "Its last calls failed, so it is only called by the next probe.",
  },
  probing: { tone: "bad", word: "Probing", sentence: "Its last calls failed, so it is called one by one." },
  recovering: { tone: "warning", word: "Recovering", sentence: "Calls succeed again, and their rate is increasing." },
}

const DISABLED: Readonly<Record<DisabledReason, string>> = {
  operator: "Its deliveries are queued until it is enabled.",
  gone: "It returned 410, which disables it. Its deliveries are queued until it is enabled.",
  failing: "Every call failed for days. Its deliveries are queued until it is enabled.",
}

/** Returns the worst of an endpoint's states. */
export const endpointState = (endpoint: EndpointStatus): EndpointState => {
  const { enabled, notices, breaker, lagEvents, lagSeconds, removedAt, disabledReason } = endpoint
  if (removedAt !== null)
    return { tone: "neutral", word: "Removed", sentence: "It was removed permanently. Its history remains." }
  if (!enabled) return { tone: "warning", word: "Disabled", sentence: DISABLED[disabledReason ?? "operator"] }
  if (notices > 0)
    return {
      tone: "bad",
      word: "Failing",
      sentence: "No call has succeeded for at least a day.",
    }
  if (breaker !== "closed") return BREAKERS[breaker]
  return lagEvents > 0 && lagSeconds > LATE_SECONDS
    ? { tone: "warning", word: "Behind", sentence: "Deliveries lag behind published events." }
    : { tone: "good", word: "Delivering", sentence: "Events are delivered as they are published." }
}

export const EndpointBadge = (props: { readonly endpoint: EndpointStatus }) => {
  const { tone, word } = endpointState(props.endpoint)
  return <StatusBadge tone={tone}>{word}</StatusBadge>
}
