import { COUNT_CAP } from "@outreach/domain/countCaps"
import { DescribedError } from "@outreach/domain/DescribedError"
import { MAX_PROBE_WAIT_SECONDS } from "@outreach/domain/deliveries/breaker"
import { DeliveryRepository } from "@outreach/domain/deliveries/DeadLetters"
import type { DeliveryState, DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { describeOutcome } from "@outreach/domain/deliveries/describeCause"
import { findEnabledEndpoint, retryWaiting } from "@outreach/domain/deliveries/Endpoints"
import { DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/Replays"
import { DeliveryId } from "@outreach/domain/Identifier"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Effect } from "effect"
import { deliveryFilters, MAX_SCAN } from "../deliveries/DeliveryFilter.ts"
import { DeliveryReader, describeEmptyResponse } from "../deliveries/DeliveryReader.ts"
import { FailureGroupReader } from "../deliveries/FailureGroupReader.ts"
import { describeReplay, formatItems } from "../deliveries/followReplay.ts"
import { ReplayReader } from "../deliveries/ReplayReader.ts"
import { formatCapped, formatCount, formatDuration } from "../format.ts"
import { checkBox, field, filterBy, type ValuesOf } from "./Field.ts"
import { badge, count, InvalidAfter, id, inOps, list, millis, type Tones, text, time } from "./List.ts"
import { operation, rowsPart } from "./Operation.ts"
import { rate } from "./replays.ts"

export const DELIVERY_TONES: Tones<DeliveryState> = {
  pending: "warning",
  delivered: "good",
  rejected: "bad",
  exhausted: "bad",
  poison: "bad",
}

/** Returns the status of a delivery's last attempt, or the reason for a missing one. */
export const describeLastAttempt = ({ lastStatus: status, lastOutcome: outcome }: DeliverySummary): string | null =>
  outcome && describeOutcome({ status, outcome })

export const deliveryColumns = {
  id: id("Delivery"),
  endpointId: id("Endpoint"),
  eventType: { ...text("Event"), none: "deleted" },
  state: badge("State", DELIVERY_TONES),
  attempts: count("Attempts"),
  ...inOps("lastStatus"),
  lastOutcome: badge("Last attempt"),
  lastLatencyMs: millis("Latency"),
  dueAt: time("Next attempt"),
  createdAt: time("Created"),
}

export const deliveries = list("deliveries list", {
  forPartners: true,
  about: "List deliveries with the outcome and the latency of the last attempt, newest first",
  filters: deliveryFilters,
  cursor: { id: DeliveryId },
  *read(filter, { limit, after }) {
    const { list } = yield* DeliveryReader
    if (!filter.slowest) return yield* list(filter, limit, after?.id)
    if (after !== null) return yield* new InvalidAfter()
    const { rows } = yield* list(filter, MAX_SCAN)
    return rows.toSorted((a, b) => (b.lastLatencyMs ?? -1) - (a.lastLatencyMs ?? -1)).slice(0, limit)
  },
  columns: {
    ...deliveryColumns,
    lastOutcome: {
      ...deliveryColumns.lastOutcome,
      shown: (delivery) => describeLastAttempt(delivery),
      tone: ({ lastOutcome }) => (lastOutcome === "success" ? "good" : "bad"),
    },
    state: { ...deliveryColumns.state, note: ({ replayedAs }) => (replayedAs === null ? "" : "replayed") },
  },
  empty: "No deliveries. They are created while a campaign is sent.",
  filledBy: "campaigns schedule",
})

const EVENT_DROPPED =
  "Its event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

export const showDelivery = operation("deliveries show", {
  access: "reveals",
  about: "Show a delivery, which may be a dead letter, with its attempts",
  of: { deliveryId: DeliveryId },
  input: { reveal: checkBox("Show the body that is sent, too, with its personal data") },
  *run({ deliveryId, reveal = false }) {
    const { delivery, attempts, retryDelays, request } = yield* (yield* DeliveryReader).findSigned(deliveryId)
    const maxAttempts = maxAttemptsOf(delivery, retryDelays ?? (yield* webhookRetryDelays).delays)
    return { delivery: { ...delivery, maxAttempts }, attempts, request: reveal ? request : undefined }
  },
  show: ({ delivery, attempts, request }) => [
    { fields: delivery },
    ...(delivery.eventType === null ? [EVENT_DROPPED] : []),
    rowsPart(
      attempts.map((attempt) => ({ ...attempt, response: attempt.response || describeEmptyResponse(attempt) })),
      ["number", "startedAt", "latencyMs", "status", "outcome", "signedWith", "response"],
      "Attempts",
    ),
    ...(request ? [`POST ${request.url}\n\n${request.body ?? EVENT_DROPPED}`] : []),
  ],
})

/** The delivery has no row that waits for its next attempt. */
class NothingToRetry extends DescribedError(
  "NothingToRetry",
  "The delivery {deliveryId} has no pending retry: it is {state}. Replay a dead letter instead. Events without an attempt are sent in the order of the log.",
) {}

class UnclearRetry extends DescribedError(
  "UnclearRetry",
  "Select deliveries in one way: by the id of a delivery, --endpoint or --group. An id does not go with --dry-run.",
) {}

const selection = {
  deliveryId: field(DeliveryId, "Id of a delivery", { isArgument: true }),
  endpointId: filterBy.endpoint,
  groupId: filterBy.group,
}

/** Returns the endpoint, which must be enabled, and optionally the issue of the selected deliveries. */
const readWaiting = Effect.fnUntraced(function* ({ deliveryId, endpointId, groupId }: ValuesOf<typeof selection>) {
  if (deliveryId !== undefined || (endpointId === undefined) === (groupId === undefined)) {
    return yield* new UnclearRetry()
  }
  const issue = groupId && (yield* (yield* FailureGroupReader).find(groupId))
  return { endpoint: yield* findEnabledEndpoint(endpointId ?? issue!.endpointId), groupId, issue }
})

export const retryDeliveries = operation("deliveries retry", {
  role: "operator",
  forPartners: true,
  about:
    "Make the next attempt of pending deliveries now: of one, or of all that failed before and are due later, as a job of the workers at a steady rate. Attempt counts continue. An open breaker still sends one probe at a time until a call succeeds",
  label: "Send waiting now",
  hasDryRun: true,
  input: { ...selection, rate },
  *plan({ rate = DEFAULT_REPLAYS_PER_SECOND, ...given }) {
    const { endpoint, groupId, issue } = yield* readWaiting(given)
    const { id: endpointId, url, breaker } = endpoint
    const { count, isWhole } = issue
      ? yield* (yield* ReplayReader).countWaiting({ endpointId, groupId })
      : { count: Math.min(endpoint.dueLater, COUNT_CAP), isWhole: endpoint.dueLater < COUNT_CAP }
    const many = formatCapped(count, isWhole ? COUNT_CAP : count)
    return {
      title: `Send waiting deliveries ${issue ? "of an issue" : `to ${url}`} now`,
      many: `${many} ${count === 1 ? "delivery" : "deliveries"}, each with its next attempt`,
      count,
      affects: issue ? { id: issue.id, name: "an issue" } : { id: endpointId, name: url },
      when:
        breaker === "closed" || breaker === "recovering"
          ? `Now, at ${formatCount(rate)} per second.`
          : `One by one, at most ${MAX_PROBE_WAIT_SECONDS} seconds apart, until a call succeeds. Then those that became due meanwhile follow as fast as the endpoint allows, the others at ${formatCount(rate)} per second.`,
      obstacle:
        count === 0 && isWhole
          ? "No delivery is waiting for a later attempt. Due ones are sent without a retry."
          : undefined,
    }
  },
  *run({ rate, ...given }) {
    const { deliveryId, ...others } = given
    if (deliveryId === undefined || Object.keys(others).length > 0) {
      const { endpoint, groupId } = yield* readWaiting(given)
      return yield* retryWaiting({ endpointId: endpoint.id, groupId }, rate)
    }
    if (yield* (yield* DeliveryRepository).retryNow(deliveryId)) return { delivery: deliveryId }
    const { delivery } = yield* (yield* DeliveryReader).find(deliveryId)
    return yield* new NothingToRetry({ deliveryId, state: delivery.state })
  },
  replay: (result) => ("total" in result ? result : undefined),
  show: (result) => ["total" in result ? describeReplay(result) : { fields: result }],
  done: (result) => {
    if (!("total" in result)) {
      return "Scheduled now. A worker makes the attempt within a second unless the endpoint's breaker is open."
    }
    const { id, total, state, rate } = result
    return state === "running"
      ? `The replay ${id} sends ${formatItems(result, total)} at ${formatCount(rate)} per second, in ${formatDuration(total / rate)}.`
      : "No delivery was waiting for a later attempt."
  },
  examples: ["ops deliveries retry dlv_…", "ops deliveries retry --endpoint whe_… --rate 20"],
})
