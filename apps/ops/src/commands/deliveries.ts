import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { describeEmptyResponse } from "@outreach/backoffice/deliveries/describeEmptyResponse"
import { deliveries as deliveryList } from "@outreach/backoffice/lists/deliveries"
import { retryDelivery } from "@outreach/backoffice/operations/deliveries"
import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import { maxAttemptsOf } from "@outreach/domain/deliveries/deliverySchedule"
import { DeliveryId } from "@outreach/domain/Identifier"
import { DeliveryRepositoryPg } from "@outreach/postgres/deliveries/DeliveryRepositoryPg"
import { webhookRetryDelays } from "@outreach/process/settings"
import { Layer } from "effect"
import { group, revealing } from "../Declaration.ts"
import { switchFlag } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { command, idArgument } from "../operationCommand.ts"
import { formatRecord, formatRows } from "../output/Output.ts"

const show = revealing({
  about: "Show a delivery, which may be a dead letter, with its attempts",
  examples: ["ops deliveries show dlv_…", "ops deliveries show dlv_… --reveal"],
  input: {
    deliveryId: idArgument("deliveryId", DeliveryId),
    reveal: switchFlag("Show the body that is sent, too, with its personal data"),
  },
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
  commands: { list: listCommand(deliveryList), show, retry: command(retryDelivery) },
  services: Layer.merge(DeliveryReader.layer, DeliveryRepositoryPg),
})
