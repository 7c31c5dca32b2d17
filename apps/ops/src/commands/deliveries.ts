import { DeliveryReader, MAX_SLOWEST_SCAN } from "@outreach/backoffice/deliveries/DeliveryReader"
import { retryDelivery } from "@outreach/backoffice/deliveries/retryDelivery"
import { DELIVERY_REASONS } from "@outreach/domain/deliveries/classifyResponse"
import { DELIVERY_STATES, UNKNOWN_OUTCOME } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { CampaignId, DeliveryId, EventId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { DeliveryRepositoryPg } from "@outreach/postgres/deliveries/DeliveryRepositoryPg"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Effect, Layer } from "effect"
import { changing, group, reading, revealing } from "../Declaration.ts"
import { EVENT_DROPPED, formatDelivery } from "../deliveries/formatDelivery.ts"
import { endpointFilter, eventTypeFilter, organizationId, period } from "../inputs/filters.ts"
import { argument, choice, flag, optional, switchFlag, wholeNumber } from "../inputs/Input.ts"
import { refuse } from "../output/Output.ts"

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

const show = reading({
  about: "Show a delivery with its attempts",
  input: { deliveryId },
  *run({ deliveryId }) {
    const { delivery, attempts, retryDelays } = yield* DeliveryReader.use(({ findSigned }) => findSigned(deliveryId))
    const maxAttempts = maxAttemptsOf(delivery, retryDelays ?? (yield* webhookRetryDelays).delays)
    return { delivery: { ...delivery, maxAttempts }, attempts }
  },
  format: (found) => formatDelivery(found),
})

const request = revealing({
  about: "Show the body that is sent of a delivery, which holds personal data",
  input: { deliveryId },
  *run({ deliveryId }) {
    const reader = yield* DeliveryReader
    const { delivery, attempts } = yield* reader.find(deliveryId)
    return { ...(yield* reader.request(delivery)), attempts }
  },
  format: ({ url, body }) => `POST ${url}\n\n${body ?? EVENT_DROPPED.trim()}`,
})

const retry = changing({
  about: "Make the next attempt of a pending delivery now",
  input: { deliveryId },
  run: ({ deliveryId }) => Effect.as(retryDelivery(deliveryId), { delivery: deliveryId }),
  format: ({ delivery }) => `${delivery} is due now.`,
})

export const deliveries = group({
  about: "Events on their way to the partners",
  commands: { list, show, "show-request": request, retry },
  services: Layer.merge(DeliveryReader.layer, DeliveryRepositoryPg),
})
