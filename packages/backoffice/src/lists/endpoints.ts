import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { Order } from "effect"
import { endpointState } from "../deliveries/endpointState.ts"
import { formatCapped, formatDuration } from "../format.ts"
import { checkBox, choice, filterBy } from "../operations/Field.ts"
import { badge, byUrgency, count, id, inOps, list, text } from "./List.ts"

export const endpoints = list("endpoints list", {
  forPartners: true,
  about: "List the webhook endpoints, those with problems first. Pending deliveries of each are counted up to 1,000",
  filters: {
    organizationId: filterBy.organization,
    state: choice(
      "State",
      [
        ["failing", "Failing"],
        ["disabled", "Disabled"],
      ],
      { all: "All" },
    ),
    removed: checkBox("Removed", { hint: "Instead of the others" }),
  },
  *read({ organizationId, state, removed }) {
    const all = yield* (yield* EndpointRepository).list(organizationId, removed ? "removed" : "present")
    const isMeant = ({ enabled, breaker, notices }: EndpointStatus) =>
      state === undefined || (state === "disabled" ? !enabled : enabled && (breaker !== "closed" || notices > 0))
    return all.filter(isMeant).toSorted(Order.mapInput(byUrgency, endpointState))
  },
  columns: {
    id: inOps,
    url: { ...text("Address"), of: ({ id }) => id },
    organizationId: { ...id("Organization"), isOfConsole: true },
    state: {
      ...badge("State"),
      isOfConsole: true,
      value: (endpoint) => endpointState(endpoint).word,
      tone: (endpoint) => endpointState(endpoint).tone,
    },
    calls: { ...count("Calls, 24 h"), isOfConsole: true },
    accepted: { kind: "share", label: "Accepted", isOfConsole: true },
    p99Ms: { kind: "millis", label: "p99 latency", isOfConsole: true },
    enabled: inOps,
    disabledReason: inOps,
    standardWebhooks: inOps,
    perSecond: inOps,
    maxInFlight: inOps,
    breaker: inOps,
    position: inOps,
    lagEvents: inOps,
    lagSeconds: {
      ...count("Lag"),
      shown: ({ lagEvents, lagSeconds }) => (lagEvents === 0 ? null : formatDuration(lagSeconds)),
      note: ({ lagEvents }) => `${formatCapped(lagEvents, LIST_COUNT_CAP)} pending`,
    },
    waiting: count("Waiting", LIST_COUNT_CAP),
    inFlight: inOps,
    owner: inOps,
  },
  empty: "No endpoint matches. Add one on the command line.",
})
