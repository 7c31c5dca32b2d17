import { DeliveryReader, MAX_SLOWEST_SCAN } from "@outreach/backoffice/deliveries/DeliveryReader"
import { describeEmptyResponse } from "@outreach/backoffice/deliveries/describeEmptyResponse"
import { retryDelivery } from "@outreach/backoffice/operations/deliveries"
import { DELIVERY_REASONS } from "@outreach/domain/deliveries/classifyResponse"
import { type Attempt, DELIVERY_STATES, UNKNOWN_OUTCOME } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { CampaignId, DeliveryId, EventId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { DeliveryRepositoryPg } from "@outreach/postgres/deliveries/DeliveryRepositoryPg"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Layer } from "effect"
import { group, reading, revealing } from "../Declaration.ts"
import { endpointFilter, eventTypeFilter, organizationId, period } from "../inputs/filters.ts"
import { argument, choice, flag, optional, switchFlag, wholeNumber } from "../inputs/Input.ts"
import { command } from "../operationCommand.ts"
import { formatRecord, formatRows, refuse } from "../output/Output.ts"

const deliveryId = argument(DeliveryId, "The delivery's id, dlv_…")

const list = reading({
  about:
    "List deliveries with the outcome and the latency of the last attempt, newest first; filters but --organization, --endpoint, --event and --state scan every delivery between --from and --to",
  input: {
    organizationId: optional(organizationId),
    endpointId: endpointFilter,
    state: optional(
      choice([...DELIVERY_STATES, "dead"], "Only those in this state; dead for dead letters of every reason"),
    ),
    status: optional(wholeNumber(100, 599, "Only those whose last attempt had this HTTP status, such as 503")),
    outcome: optional(
      choice([...DELIVERY_REASONS, UNKNOWN_OUTCOME], "Only those whose last attempt had this outcome, such as tls"),
    ),
    slowerThan: optional(flag(Seconds, "Only those whose last attempt took longer, such as 2s")),
    slowest: switchFlag(
      `Look at the newest ${MAX_SLOWEST_SCAN} that --organization, --endpoint, --event and --state leave, and list the slowest first`,
    ),
    eventId: optional(flag(EventId, "Only those of this event, evt_…")),
    eventType: eventTypeFilter,
    campaignId: optional(flag(CampaignId, "Only events of this campaign, cmp_…")),
    ...period("Only those created"),
  },
  cursor: { id: DeliveryId },
  *run({ slowest: isSlowestFirst, ...filter }, { limit, after }) {
    const { list, slowest } = yield* DeliveryReader
    if (!isSlowestFirst) return yield* list({ ...filter, limit, below: after?.id })
    if (after !== null) return yield* refuse("InvalidAfter", "--after does not go with --slowest.")
    return yield* slowest({ ...filter, limit })
  },
  columns: [
    "id",
    "endpointId",
    "eventType",
    "state",
    "attempts",
    "lastStatus",
    "lastOutcome",
    "lastLatencyMs",
    "dueAt",
    "createdAt",
  ],
})

const show = revealing({
  about: "Show a delivery, which may be a dead letter, with its attempts",
  examples: ["ops deliveries show dlv_…", "ops deliveries show dlv_… --reveal"],
  input: { deliveryId, reveal: switchFlag("Show the body that is sent, too, with its personal data") },
  *run({ deliveryId, reveal }) {
    const reader = yield* DeliveryReader
    const { delivery, attempts, retryDelays } = yield* reader.findSigned(deliveryId)
    const maxAttempts = maxAttemptsOf(delivery, retryDelays ?? (yield* webhookRetryDelays).delays)
    const found = { delivery: { ...delivery, maxAttempts }, attempts }
    return reveal ? { ...found, request: yield* reader.request(delivery) } : { ...found, request: undefined }
  },
  format: ({ delivery, attempts, request }) => [
    `${formatRecord(delivery)}${delivery.eventType === null ? EVENT_DROPPED : ""}`,
    `Attempts\n${formatRows(attempts.map(withResponse), ["number", "startedAt", "latencyMs", "status", "outcome", "signedWith", "response"])}`,
    ...(request ? [`POST ${request.url}\n\n${request.body ?? EVENT_DROPPED.trim()}`] : []),
  ],
})

const EVENT_DROPPED =
  "\n\nIts event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

const withResponse = <A extends Attempt>(attempt: A): A => ({
  ...attempt,
  response: attempt.response || describeEmptyResponse(attempt),
})

export const deliveries = group({
  about: "Events on their way to the partners",
  commands: { list, show, retry: command(retryDelivery) },
  services: Layer.merge(DeliveryReader.layer, DeliveryRepositoryPg),
})
