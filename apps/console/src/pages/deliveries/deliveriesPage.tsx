import { deliveries } from "@outreach/backoffice/lists/deliveries"
import type { DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { Effect } from "effect"
import { listPage } from "../../http/listPage.tsx"
import { Outcome } from "./Outcome.tsx"
import { readCalls } from "./readCalls.tsx"

export const deliveryCells = {
  lastOutcome: ({ lastStatus: status, lastOutcome: outcome }: DeliverySummary) =>
    outcome === null ? "–" : <Outcome status={status} outcome={outcome} />,
}

export const deliveriesRoutes = listPage("/deliveries", deliveries, {
  cells: deliveryCells,
  read: ({ filter, context }) => Effect.all({ calls: readCalls(filter, context.now) }),
  around: ({ calls, context: { operator } }) => ({
    above: calls,
    // An event's page lists its deliveries. Partners have no pages of campaigns.
    controls: { event: false, campaign: operator.role !== "partner" && {} },
  }),
})
