import type { Outcome, Progress } from "@outreach/domain/deliveries/DeliveryLeases"
import { latencyHistogram } from "@outreach/domain/deliveries/latencyBuckets"
import { madeAt } from "@outreach/domain/Identifier"
import { failureGroupsOf } from "./failureGroupsOf.ts"

/** Converts progress to the arguments of `write_outcomes`. */
export const progressColumns = (progress: ReadonlyArray<Progress>) => {
  // All workers use the same order, because the counter rows are locked in it.
  const arrived = progress
    .map(({ endpointId, outcomes }) => ({ endpointId, outcomes: outcomes.filter(arrivedAtOnce) }))
    .filter(({ outcomes }) => outcomes.length > 0)
    .toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1))
  const failed = progress.flatMap(({ outcomes }) => outcomes.filter((outcome) => !arrivedAtOnce(outcome)))
  return {
    closed: progress.flatMap(({ endpointId, outcomes }) => {
      const closed = outcomes.flatMap(({ delivery: { isRow, eventId } }) => (isRow ? [] : eventId))
      return closed.length === 0 ? [] : [endpointId, closed.join()]
    }),
    breakers: progress.flatMap(({ endpointId, breaker }) =>
      breaker === undefined ? [] : [{ endpointId, ...breaker }],
    ),
    batches: arrived.flatMap(({ endpointId, outcomes }) =>
      toBatches(outcomes).flatMap((batch) => [
        ...[batch[0]!.delivery.organizationId, endpointId, batch[0]!.delivery.id, batch.at(-1)!.delivery.id],
        JSON.stringify(batch.map(({ delivery: { id, eventId }, attempt }) => ({ id, eventId, attempt }))),
      ]),
    ),
    arrivals: arrived.flatMap(({ endpointId, outcomes }) => {
      const latencies = latencyHistogram(outcomes.map(({ attempt }) => attempt?.latencyMs ?? 0))
      const { organizationId, eventId } = outcomes[0]!.delivery
      return [organizationId, endpointId, eventId, String(outcomes.length), `{${latencies.join()}}`]
    }),
    troubles: toTroubles(failed),
  }
}

/** Converts other outcomes to rows of `write_troubles`, with the cause of each failed call, and its groups at the first occurrence only. */
const toTroubles = (outcomes: ReadonlyArray<Outcome>) => {
  const causes = new Set<string>()
  return outcomes.map(({ delivery: { isRow, organizationId, id, endpointId, eventId }, ...outcome }) => {
    const trouble = { isRow, organizationId, id, endpointId, eventId, ...outcome }
    if (outcome.settlement === "delivered" || outcome.attempt === null) return trouble
    const groups = failureGroupsOf(endpointId, outcome.attempt)
    const cause = groups.exact.id
    if (causes.has(cause)) return { ...trouble, cause }
    causes.add(cause)
    return { ...trouble, cause, groups }
  })
}

/** Reports whether a delivery from the log arrived at its first attempt. */
const arrivedAtOnce = ({ delivery, settlement }: Outcome): boolean => !delivery.isRow && settlement === "delivered"

/** The maximum time between the ids in one batch. A search for an id includes the batches that end up to this much later. */
export const BATCH_SPAN_MS = 8000

/** Groups deliveries of one endpoint that arrived at their first attempt into batches; each is a row of `delivered`. */
const toBatches = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<ReadonlyArray<Outcome>> => {
  const batches: Array<Array<Outcome>> = []
  for (const outcome of outcomes.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1))) {
    const batch = batches.at(-1)
    if (batch !== undefined && madeAt(outcome.delivery.id) - madeAt(batch[0]!.delivery.id) <= BATCH_SPAN_MS)
      batch.push(outcome)
    else batches.push([outcome])
  }
  return batches
}
