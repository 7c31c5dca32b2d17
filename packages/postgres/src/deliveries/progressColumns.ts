import type { Progress } from "@outreach/domain/deliveries/EndpointReaders"
import { toBatches } from "./toBatches.ts"

/** Lays progress out as the arguments of `write_progress`. */
export const progressColumns = (progress: ReadonlyArray<Progress>) => {
  const moved = progress.filter(({ open }) => open !== undefined)
  return {
    endpoints: moved.map(({ endpointId }) => endpointId),
    open: moved.map(({ open }) => open!.join()),
    places: moved.map(({ place }) => place?.emittedAt ?? ""),
    placeIds: moved.map(({ place }) => place?.id ?? ""),
    breakers: progress.flatMap(({ endpointId, breaker }) =>
      breaker === undefined ? [] : [{ endpointId, ...breaker }],
    ),
    batches: progress.flatMap(({ endpointId, outcomes }) =>
      toBatches(outcomes.filter(({ delivery, settlement }) => !delivery.isRow && settlement.state === "delivered")).map(
        (batch) => ({ endpointId, ...batch }),
      ),
    ),
    troubles: progress.flatMap(({ outcomes }) =>
      outcomes.flatMap(({ delivery, settlement, attempt }) =>
        !delivery.isRow && settlement.state === "delivered"
          ? []
          : [
              {
                isRow: delivery.isRow,
                organizationId: delivery.organizationId,
                id: delivery.id,
                endpointId: delivery.endpointId,
                eventId: delivery.eventId,
                state: settlement.state,
                delay: settlement.state === "retry" ? settlement.delaySeconds : null,
                attempt,
              },
            ],
      ),
    ),
  }
}
