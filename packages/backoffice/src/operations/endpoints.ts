import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import { HeaderLines } from "@outreach/domain/deliveries/CustomHeaders"
import {
  describeSchedule,
  formatRetryDelays,
  RetryDelays,
  toRetryDelays,
} from "@outreach/domain/deliveries/deliverySchedule"
import {
  type EndpointStatus,
  EventTypes,
  formatRetryStatuses,
  fromEventTypes,
  InFlight,
  PerSecond,
  RetryStatuses,
  type SettingChanges,
  toEventTypes,
  toRetryStatuses,
} from "@outreach/domain/deliveries/Endpoint"
import * as Endpoints from "@outreach/domain/deliveries/Endpoints"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { outboundEventTypes } from "@outreach/domain/events/outgoingEvents"
import { EndpointId } from "@outreach/domain/Identifier"
import { PastInstant, type Timestamp } from "@outreach/domain/Timestamp"
import { Partitions } from "@outreach/postgres/Partitions"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Effect, Order, Redacted, Schema, Struct } from "effect"
import { endpointState } from "../deliveries/endpointState.ts"
import { countOrNone, formatCapped, formatDuration } from "../format.ts"
import { checkBox, choice, field, filterBy, organizationId, required, type ValuesOf, yesOrNo } from "./Field.ts"
import { badge, byUrgency, count, id, inOps, list, text } from "./List.ts"
import { operation } from "./Operation.ts"

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
    const isFailing = ({ enabled, disabledReason, breaker, notices }: EndpointStatus) =>
      enabled ? breaker !== "closed" || notices > 0 : disabledReason === "failing"
    const isMeant = (endpoint: EndpointStatus) =>
      state === undefined || (state === "disabled" ? !endpoint.enabled : isFailing(endpoint))
    return all.filter(isMeant).toSorted(Order.mapInput(byUrgency, endpointState))
  },
  columns: {
    ...inOps("id"),
    url: { ...text("Address"), sort: "asc", of: ({ id }) => id },
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
    ...inOps(
      "enabled",
      "disabledReason",
      "standardWebhooks",
      "perSecond",
      "maxInFlight",
      "breaker",
      "position",
      "lagEvents",
    ),
    lagSeconds: {
      ...count("Lag"),
      sort: "desc",
      shown: ({ lagEvents, lagSeconds }) => (lagEvents === 0 ? null : formatDuration(lagSeconds)),
      note: ({ lagEvents }) => `${formatCapped(lagEvents, LIST_COUNT_CAP)} pending`,
    },
    waiting: { ...count("Waiting", LIST_COUNT_CAP), sort: "desc" },
    ...inOps("inFlight", "owner"),
  },
  empty: "No endpoints, so no webhooks are sent.",
  filledBy: "endpoints create",
})

const url = (hint: string) =>
  field(Schema.String.annotate({ expected: "an https address" }), "Address", { inputmode: "url", hint, size: 48 })

const settings = {
  types: field(EventTypes, "Event types", { kind: "boxes", options: ["all", ...outboundEventTypes] }),
  perSecond: field(PerSecond, "Calls per second", {
    hint: "1 to 10,000, or none. Live events take precedence over retries and replays",
    size: 8,
  }),
  inFlight: field(InFlight, "Concurrent calls", {
    hint: "1 to 1,000, or none for the workers' default, which is also the maximum",
    size: 8,
  }),
  retryStatuses: field(RetryStatuses, "Retry statuses", {
    hint: "Statuses to retry, such as 408,429,503, with Retry-After; 410=disable disables the endpoint on 410; none: no 4xx is retried",
  }),
  retrySchedule: field(RetryDelays, "Delays between attempts", {
    hint: `Such as 10s,1m,1h: at most 19, each up to 7d; default: the deployment's schedule. After five failures in a row, calls are sent one by one, up to ${MAX_PROBE_WAIT_SECONDS}s apart`,
    size: 32,
  }),
  standardWebhooks: yesOrNo("Standard Webhooks headers", "sent", "not sent", { hint: "In addition to ours" }),
  headers: field(HeaderLines, "Headers", {
    kind: "lines",
    hint: "Sent with every call, one on each line, such as X-Api-Key: 123. Replaces all; none removes them. The values are encrypted and never shown",
  }),
  disableWhenFailing: yesOrNo(
    "Disable when failing",
    "yes, and notify the contacts",
    "no, keep calling it without notification",
    { hint: "The contacts are notified after a day, and it is disabled after five" },
  ),
}

const toSettings = (given: ValuesOf<typeof settings>): Required<SettingChanges> => ({
  eventTypes: given.types && toEventTypes(given.types),
  perSecond: given.perSecond,
  maxInFlight: given.inFlight,
  ...(given.retryStatuses
    ? toRetryStatuses(given.retryStatuses)
    : { retryStatuses: undefined, disableOnGone: undefined }),
  retryDelays: given.retrySchedule && toRetryDelays(given.retrySchedule),
  standardWebhooks: given.standardWebhooks,
  headers: given.headers,
  disableWhenFailing: given.disableWhenFailing,
})

const yesIf = (is: boolean): string => (is ? "yes" : "no")

const of = { endpointId: EndpointId }

/** Returns the start of the log if it is after a time. */
export const readKeptFrom = Effect.fnUntraced(function* (from: Timestamp | undefined) {
  const eventsKeptFrom = yield* (yield* Partitions).eventsKeptFrom
  return from === undefined || eventsKeptFrom === null || from >= eventsKeptFrom ? {} : { eventsKeptFrom }
})

export const describeKeptFrom = ({ eventsKeptFrom: at }: { readonly eventsKeptFrom?: Timestamp }) =>
  at && `Events before ${at.slice(0, 10)} are deleted (EVENTS_MONTHS).`

export const showEndpoint = operation("endpoints show", {
  access: "reveals",
  about: "Show an endpoint: its breaker, its schedule, its position in the event log, and its waiting deliveries",
  label: "Show the full address",
  of,
  input: { reveal: checkBox("Show the whole address, which may hold a secret of the partner") },
  *run({ endpointId, reveal }) {
    const endpoints = yield* EndpointRepository
    const found = yield* endpoints.find(endpointId)
    const retrySchedule = describeSchedule(found.retryDelays, yield* webhookRetryDelays)
    return { ...found, retrySchedule, ...(reveal && { url: yield* endpoints.address(endpointId) }) }
  },
  show: ({ retryDelays: _, ...found }) => [{ fields: { ...found, retryStatuses: formatRetryStatuses(found) } }],
})

export const createEndpoint = operation("endpoints create", {
  forPartners: true,
  about:
    "Add a webhook endpoint, by default for all event types. http addresses need the sandbox or WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true",
  label: "Add the endpoint",
  input: {
    organizationId,
    url: required(url("The address for webhooks, https")),
    since: field(PastInstant, "Since", {
      kind: "instant",
      hint: "Also send the events published at this time or later",
      example: "2026-11-01T09:00:00Z",
    }),
    ...settings,
    ownSecret: checkBox("Separate secret", {
      hint: "Created and shown once, instead of using the organization's",
    }),
  },
  faults: { InvalidEndpointUrl: "url", OrganizationNotFound: "organizationId", TooManyEndpoints: "url" },
  *run({ organizationId, url, since, ownSecret: ownSecrets = false, ...given }) {
    const kept = yield* readKeptFrom(since)
    const created = { organizationId, url, since, ownSecrets, ...toSettings(given) }
    const { endpoint, secret } = yield* Endpoints.createEndpoint(created)
    return { ...endpoint, ...(secret && { signingSecret: Redacted.value(secret) }), ...kept }
  },
  shownOnce: ({ signingSecret }) => signingSecret,
  done: (created) => ["Added.", describeKeptFrom(created)].filter(Boolean).join(" "),
  examples: [
    "ops endpoints create --organization org_… --url https://partner.example/bounces --types outreach.email_bounced --own-secret",
  ],
})

export const updateEndpoint = operation("endpoints update", {
  forPartners: true,
  about: "Change an endpoint. Pending deliveries use the new settings, too",
  label: "Change",
  of,
  input: { url: url("A new address resets the failure count"), ...settings },
  isPartial: true,
  faults: { InvalidEndpointUrl: "url", HeadersNeeded: "headers" },
  find: ({ endpointId }) => EndpointRepository.use(({ find }) => find(endpointId)),
  versionOf: ({ version }) => String(version),
  texts: (endpoint) => ({
    url: endpoint.url,
    types: fromEventTypes(endpoint.eventTypes),
    perSecond: countOrNone(endpoint.perSecond),
    inFlight: countOrNone(endpoint.maxInFlight),
    retryStatuses: formatRetryStatuses(endpoint),
    retrySchedule: formatRetryDelays(endpoint.retryDelays),
    standardWebhooks: yesIf(endpoint.standardWebhooks),
    headers: endpoint.headers.join(", ") || "none",
    disableWhenFailing: yesIf(endpoint.disableWhenFailing),
  }),
  run: ({ endpointId, url, ...changes }, _, version) =>
    Endpoints.updateEndpoint(endpointId, { url, ...toSettings(changes) }, version),
  done: () => "Saved. Pending deliveries use the new settings, too.",
  examples: ["ops endpoints update whe_… --retry-statuses 408,429,503,410=disable --retry-schedule 10s,1m,10m,1h"],
})

/** Returns the settings of an endpoint by label, as its form shows them. */
export const describeSettings = (endpoint: EndpointStatus): Readonly<Record<string, string>> => {
  const texts = updateEndpoint.texts!(endpoint)
  return Object.fromEntries(
    Struct.keys(settings).map((key) => [settings[key].control.label, [texts[key]].flat().join(", ")]),
  )
}
