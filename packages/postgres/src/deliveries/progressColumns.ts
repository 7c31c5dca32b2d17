import type { Outcome, Progress } from "@outreach/domain/deliveries/EndpointReaders"
import { type DeliveryId, madeAt } from "@outreach/domain/Identifier"

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

/** How far apart in time the ids of one batch may be: whoever looks for an id looks at the batches that end so much later. */
export const BATCH_SPAN_MS = 8000

/** A row of `delivered` that holds many deliveries. */
export interface Batch {
  readonly firstId: DeliveryId
  readonly lastId: DeliveryId
  /** As JSON: `[{ id, eventId, attempt }]`. */
  readonly deliveries: string
}

/** Puts deliveries of one endpoint that arrived at their first attempt into batches. */
const toBatches = (outcomes: ReadonlyArray<Pick<Outcome, "delivery" | "attempt">>): ReadonlyArray<Batch> => {
  const sorted = outcomes.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1))
  const batches: Array<Array<(typeof sorted)[number]>> = []
  for (const each of sorted) {
    const batch = batches.at(-1)
    if (batch !== undefined && madeAt(each.delivery.id) - madeAt(batch[0]!.delivery.id) <= BATCH_SPAN_MS)
      batch.push(each)
    else batches.push([each])
  }
  return batches.map((batch) => ({
    firstId: batch[0]!.delivery.id,
    lastId: batch.at(-1)!.delivery.id,
    deliveries: JSON.stringify(
      batch.map(({ delivery, attempt }) => ({ id: delivery.id, eventId: delivery.eventId, attempt })),
    ),
  }))
}
