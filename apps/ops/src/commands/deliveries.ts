import { describeEmptyResponse } from "@outreach/backoffice/deliveries/describeEmptyResponse"
import { deliveries as deliveryList } from "@outreach/backoffice/lists/deliveries"
import { retryDelivery, showDelivery } from "@outreach/backoffice/operations/deliveries"
import type { Attempt } from "@outreach/domain/deliveries/Delivery"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatRecord, formatRows } from "../output/Output.ts"

const EVENT_DROPPED =
  "\n\nIts event is no longer stored (EVENTS_MONTHS), so its type is not known and it cannot be sent again."

const withResponse = <A extends Attempt>(attempt: A): A => ({
  ...attempt,
  response: attempt.response || describeEmptyResponse(attempt),
})

export const deliveries = group("deliveries", "Events on their way to the partners", [
  deliveryList,
  command(showDelivery, {
    format: ({ delivery, attempts, request }) => [
      `${formatRecord(delivery)}${delivery.eventType === null ? EVENT_DROPPED : ""}`,
      `Attempts\n${formatRows(attempts.map(withResponse), ["number", "startedAt", "latencyMs", "status", "outcome", "signedWith", "response"])}`,
      ...(request ? [`POST ${request.url}\n\n${request.body ?? EVENT_DROPPED.trim()}`] : []),
    ],
  }),
  retryDelivery,
])
