import { COUNT_CAP } from "@outreach/domain/countCaps"
import { DescribedError } from "@outreach/domain/DescribedError"
import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
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
import { describeRemoval, EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { createLogReplay, DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/Replays"
import { outboundEventTypes } from "@outreach/domain/events/outgoingEvents"
import { EndpointId } from "@outreach/domain/Identifier"
import { Instant, PastInstant, type Timestamp } from "@outreach/domain/Timestamp"
import { Partitions } from "@outreach/postgres/Partitions"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Effect, Redacted, Schema, Struct } from "effect"
import { DeadLetterReader } from "../deliveries/DeadLetterReader.ts"
import { describeReplay } from "../deliveries/followReplay.ts"
import { ReplayReader } from "../deliveries/ReplayReader.ts"
import { countOrNone, formatCapped, formatCount, formatCounted } from "../format.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { type Codec, checkBox, checkBoxes, field, organizationId, required, type ValuesOf, yesOrNo } from "./Field.ts"
import { operation } from "./Operation.ts"
import { optionalRate, rate } from "./replays.ts"

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
  disableWhenFailing: given.disableWhenFailing,
})

const yesIf = (is: boolean): string => (is ? "yes" : "no")

const of = { endpointId: EndpointId }

/** Reads an endpoint that isn't removed, and the plan of its change. */
const planOf = Effect.fnUntraced(function* (endpointId: EndpointId, verb: string) {
  const endpoint = yield* Endpoints.findPresentEndpoint(endpointId)
  const plan = {
    title: `${verb} ${endpoint.url}`,
    many: `1 endpoint with ${formatCapped(endpoint.waiting, COUNT_CAP)} pending deliveries`,
    affects: yield* (yield* OrganizationReader).find(endpoint.organizationId),
  }
  return { endpoint, plan }
})

/** Returns the start of the log if it is after a time. */
const readKeptFrom = Effect.fnUntraced(function* (from: Timestamp | undefined) {
  const eventsKeptFrom = yield* (yield* Partitions).eventsKeptFrom
  return from === undefined || eventsKeptFrom === null || from >= eventsKeptFrom ? {} : { eventsKeptFrom }
})

const describeKeptFrom = ({ eventsKeptFrom: at }: { readonly eventsKeptFrom?: Timestamp }) =>
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
  about: "Change an endpoint. Pending deliveries use the new settings, too",
  label: "Change",
  of,
  input: { url: url("A new address resets the failure count"), ...settings },
  isPartial: true,
  faults: { InvalidEndpointUrl: "url" },
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

export const disableEndpoint = operation("endpoints disable", {
  about: "Disable an endpoint; its deliveries are queued until it is enabled",
  label: "Disable",
  of,
  *plan({ endpointId }) {
    const { plan } = yield* planOf(endpointId, "Disable")
    return { ...plan, when: "Immediately. New events are queued until it is enabled." }
  },
  run: ({ endpointId }) => EndpointRepository.use(({ disable }) => disable(endpointId)),
  done: () => "Disabled. Its deliveries are queued until it is enabled.",
})

class NothingToReplay extends DescribedError(
  "NothingToReplay",
  "The rate is that of missed events. Send them too, or leave the rate out.",
) {}

export const enableEndpoint = operation("endpoints enable", {
  about: "Enable an endpoint immediately, even if it failed before; shows the events it missed since its last success",
  label: "Enable",
  of,
  input: {
    replayMissed: checkBox("Send missed events once", {
      hint: "Each event that became a dead letter since its last success",
    }),
    rate: optionalRate,
  },
  faults: { NothingToReplay: "rate" },
  *plan({ endpointId }) {
    const { plan } = yield* planOf(endpointId, "Enable")
    const { count, since } = yield* (yield* DeadLetterReader).missedBy(endpointId)
    return {
      ...plan,
      when: "Immediately. Earlier failures no longer count.",
      facts: since === null ? {} : { "Missed events": formatCount(count), "Missed since": { at: since } },
    }
  },
  *run({ endpointId, replayMissed = false, rate }) {
    if (rate !== undefined && !replayMissed) return yield* new NothingToReplay()
    const { count: missedEvents, since } = yield* (yield* DeadLetterReader).missedBy(endpointId)
    const missed =
      replayMissed && since !== null ? { from: since, rate: rate ?? DEFAULT_REPLAYS_PER_SECOND } : undefined
    return { ...(yield* Endpoints.enableEndpoint(endpointId, missed)), missedEvents, missedSince: since }
  },
  done: ({ id, missedEvents, missedSince, replayId }) => {
    if (missedSince === null) return "Enabled. Earlier failures no longer count."
    const missed = formatCounted(missedEvents, "missed event")
    return replayId === null
      ? `Enabled. To send ${missed} since its last success once: \`ops dead-letters replay --endpoint ${id} --from ${missedSince}\`.`
      : `Enabled. The replay ${replayId} sends ${missed} once.`
  },
})

export const removeEndpoint = operation("endpoints remove", {
  about: "Remove an endpoint permanently with its separate signing secrets; its history remains",
  label: "Remove permanently",
  link: "Remove",
  isIrreversible: true,
  of,
  *plan({ endpointId }) {
    const { endpoint, plan } = yield* planOf(endpointId, "Remove")
    const because =
      "This can't be undone. Its separate signing secrets are deleted, its replays are cancelled, and the partner's webhooks to it are rejected."
    const caution = { word: plan.affects.name, because }
    return { ...plan, when: `Immediately. ${describeRemoval(endpoint)}`, caution }
  },
  *run({ endpointId }) {
    const { lagEvents, waiting, waitingReplays, inFlight } = yield* Endpoints.findPresentEndpoint(endpointId)
    return {
      ...(yield* Endpoints.removeEndpoint(endpointId)),
      discardedEvents: lagEvents,
      discardedRetries: waiting - lagEvents - waitingReplays,
      discardedReplays: waitingReplays,
      callsInFlight: inFlight,
    }
  },
  done: () => "Removed. Pending deliveries are cancelled within seconds.",
})

export const testEndpoint = operation("endpoints test", {
  role: "operator",
  forPartners: true,
  about:
    "Send a signed test event (outreach.endpoint_test), which isn't recorded and doesn't change the breaker; show status, latency and response",
  label: "Send a test event",
  of,
  *run({ endpointId }) {
    const { warn } = yield* TaskProgress
    return yield* Effect.tapError(Endpoints.testEndpoint(endpointId), (error) =>
      error instanceof Endpoints.EndpointTestFailed && error.response !== null
        ? warn(`Response: ${error.response}`)
        : Effect.void,
    )
  },
  done: (test) => `Accepted the test event ${test.eventId}: ${Endpoints.describeTest(test)}`,
})

const time = (label: string, schema: Codec<Timestamp>) =>
  field(schema, label, { kind: "instant", required: true, example: "2026-11-01T09:00:00Z" })

const period = {
  from: time("Published at or after", PastInstant),
  to: time("Published before", Instant),
  types: checkBoxes("Event types", outboundEventTypes, { hint: "Default: those that it receives" }),
}
type Period = { readonly endpointId: EndpointId } & ValuesOf<typeof period>

const MISSING = "Choose the period first."

/** Returns the selected events; undefined without a period. */
const rangeOf = ({ endpointId, from, to, types }: Period) =>
  from && to && { endpointId, from, to, ...(types && { eventTypes: types }) }

const readRange = (given: Period) =>
  Effect.fromNullishOr(rangeOf(given)).pipe(Effect.mapError(() => ({ _tag: "PeriodMissing", message: MISSING })))

export const replayEvents = operation("endpoints replay", {
  role: "operator",
  forPartners: true,
  about: "Send the events of a period to an endpoint again, delivered or not, after its other deliveries",
  label: "Send the events",
  link: "Replay a period",
  hasDryRun: true,
  of,
  input: { ...period, rate },
  *plan(given) {
    const { endpointId, from, to } = given
    const { plan } = yield* planOf(endpointId, "Replay events to")
    const range = rangeOf(given)
    const count = range === undefined ? 0 : yield* (yield* ReplayReader).countInLog(range)
    const kept = describeKeptFrom(yield* readKeptFrom(from))
    return {
      ...plan,
      many: `${formatCounted(count, "event")}, including those delivered before`,
      count,
      when: "Now, after its other deliveries.",
      facts: { From: { at: from ?? null }, Before: { at: to ?? null }, ...(kept && { Deleted: kept }) },
      obstacle:
        range === undefined
          ? MISSING
          : count === 0
            ? ["No events were published in this period.", kept].filter(Boolean).join(" ")
            : undefined,
    }
  },
  *run({ rate, ...given }) {
    const range = yield* readRange(given)
    return { ...(yield* createLogReplay(range, rate)), ...(yield* readKeptFrom(given.from)) }
  },
  replay: (job) => job,
  show: (job) => [describeReplay(job)],
  done: ({ id, total, rate, ...kept }) => {
    const replay = `The replay ${id} sends ${formatCounted(total, "event")} at ${formatCount(rate)} per second.`
    return [replay, describeKeptFrom(kept)].filter(Boolean).join(" ")
  },
  examples: ["ops endpoints replay whe_… --from 2026-11-01T09:00:00Z --to 2026-11-01T17:00:00Z --dry-run"],
})
