import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { retryDelivery } from "@outreach/backoffice/deliveries/retryDelivery"
import { DELIVERY_STATES } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { CampaignId, DeliveryId, EventId } from "@outreach/domain/Identifier"
import { DeliveryRepositoryPg } from "@outreach/postgres/deliveries/DeliveryRepositoryPg"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Effect, Layer } from "effect"
import { changing, group, reading, revealing } from "../Declaration.ts"
import { EVENT_DROPPED, formatDelivery } from "../deliveries/formatDelivery.ts"
import { CONTINUES, endpointFilter, eventTypeFilter, limit, period } from "../inputs/filters.ts"
import { argument, choice, flag, optional } from "../inputs/Input.ts"

const deliveryId = argument(DeliveryId, "The delivery's id, dlv_…")

const list = reading({
  about: "List deliveries, newest first; --campaign and --type scan every delivery between --from and --to",
  input: {
    endpointId: endpointFilter,
    state: optional(choice(DELIVERY_STATES, "Only those in this state")),
    eventId: optional(flag(EventId, "Only those of this event, evt_…")),
    eventType: eventTypeFilter,
    campaignId: optional(flag(CampaignId, "Only events of this campaign, cmp_…")),
    ...period("Only those created", CONTINUES),
    limit,
  },
  run: ({ limit, ...filter }) => DeliveryReader.use(({ list }) => list({ ...filter, limit: limit + 1 })),
  columns: ["id", "endpointId", "eventType", "state", "attempts", "dueAt", "createdAt"],
})

const show = reading({
  about: "Show a delivery with its attempts",
  input: { deliveryId },
  *run({ deliveryId }) {
    const { delivery, attempts, retryDelays } = yield* DeliveryReader.use(({ find }) => find(deliveryId))
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
  about: "Make the next attempt at a delivery now that waits for it",
  input: { deliveryId },
  run: ({ deliveryId }) => Effect.as(retryDelivery(deliveryId), { delivery: deliveryId }),
  format: ({ delivery }) => `${delivery} is due now.`,
})

export const deliveries = group({
  about: "Events on their way to the partners",
  commands: { list, show, request, retry },
  services: Layer.merge(DeliveryReader.layer, DeliveryRepositoryPg),
})
