import { DescribedError } from "@outreach/domain/DescribedError"
import * as Endpoints from "@outreach/domain/deliveries/Endpoints"
import { describeRemoval, EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { createLogReplay, DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/Replays"
import { outboundEventTypes } from "@outreach/domain/events/outgoingEvents"
import { EndpointId } from "@outreach/domain/Identifier"
import { Instant, PastInstant, type Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { DeadLetterReader } from "../deliveries/DeadLetterReader.ts"
import { describeReplay } from "../deliveries/followReplay.ts"
import { ReplayReader } from "../deliveries/ReplayReader.ts"
import { formatCapped, formatCount, formatCounted } from "../format.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { describeKeptFrom, readKeptFrom } from "./endpoints.ts"
import { type Codec, checkBox, checkBoxes, field, type ValuesOf } from "./Field.ts"
import { operation } from "./Operation.ts"
import { optionalRate, rate } from "./replays.ts"

const of = { endpointId: EndpointId }

/** Reads an endpoint that isn't removed, and the plan of its change. */
const planOf = Effect.fnUntraced(function* (endpointId: EndpointId, verb: string) {
  const endpoint = yield* Endpoints.findPresentEndpoint(endpointId)
  const plan = {
    title: `${verb} ${endpoint.url}`,
    many: `1 endpoint with ${formatCapped(endpoint.waiting)} pending deliveries`,
    affects: yield* (yield* OrganizationReader).find(endpoint.organizationId),
  }
  return { endpoint, plan }
})

export const disableEndpoint = operation("endpoints disable", {
  forPartners: true,
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
  forPartners: true,
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
  forPartners: true,
  about: "Remove an endpoint permanently with its separate signing secrets; its history remains",
  label: "Remove permanently",
  link: "Remove",
  isIrreversible: true,
  of,
  *plan({ endpointId }) {
    const { endpoint, plan } = yield* planOf(endpointId, "Remove")
    const because =
      "This can't be undone. Its separate signing secrets are deleted, its replays are cancelled, and webhooks that are sent to us for it are rejected."
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
  done: (test) => `Accepted the test event ${test.eventId}: ${Endpoints.describeTest(test)}${describeWaiting(test)}`,
})

const describeWaiting = ({ endpointId, dueLater }: { readonly endpointId: string; readonly dueLater: number }) =>
  dueLater === 0
    ? ""
    : ` ${formatCapped(dueLater)} of its deliveries are waiting. To send them now: \`ops deliveries retry --endpoint ${endpointId}\`.`

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
