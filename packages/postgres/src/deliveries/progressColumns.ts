import type { Outcome, Progress } from "@outreach/domain/deliveries/DeliveryLeases"
import { latencyHistogram } from "@outreach/domain/deliveries/latencyBuckets"
import { madeAt } from "@outreach/domain/Identifier"
import { failureGroupsOf } from "./failureGroupsOf.ts"

/** Converts progress to the arguments of `write_progress`. */
export const progressColumns = (progress: ReadonlyArray<Progress>) => {
  const arrived = progress.flatMap(({ endpointId, outcomes }) => {
    const [first, ...others] = outcomes.filter(arrivedAtOnce)
    return first === undefined
      ? []
      : [{ organizationId: first.delivery.organizationId, endpointId, outcomes: [first, ...others] }]
  })
  return {
    positions: progress.flatMap(({ endpointId, open, intent }) =>
      open === undefined ? [] : [endpointId, open.join(), intent?.emittedAt ?? "", intent?.id ?? ""],
    ),
    breakers: progress.flatMap(({ endpointId, breaker }) =>
      breaker === undefined ? [] : [{ endpointId, ...breaker }],
    ),
    batches: arrived.flatMap(({ organizationId, endpointId, outcomes }) =>
      toBatches(outcomes).flatMap((batch) => [
        ...[organizationId, endpointId, batch[0]!.delivery.id, batch.at(-1)!.delivery.id],
        JSON.stringify(batch.map(({ delivery: { id, eventId }, attempt }) => ({ id, eventId, attempt }))),
      ]),
    ),
    // All workers use the same order, because the counter rows are locked in it.
    arrivals: arrived
      .toSorted((a, b) => (a.endpointId < b.endpointId ? -1 : 1))
      .flatMap(({ organizationId, endpointId, outcomes }) => {
        const latencies = latencyHistogram(outcomes.map(({ attempt }) => attempt?.latencyMs ?? 0))
        const { eventId } = outcomes[0]!.delivery
        return [organizationId, endpointId, eventId, String(outcomes.length), `{${latencies.join()}}`]
      }),
    troubles: toTroubles(progress),
  }
}

const toTroubles = (progress: ReadonlyArray<Progress>) => {
  const causes = new Set<string>()
  /** Returns the cause. Describes its groups at the first occurrence only. */
  const causeOf = ({ delivery: { endpointId }, settlement, attempt }: Outcome) => {
    if (settlement.state === "delivered" || attempt === null) return { cause: null, groups: null }
    const groups = failureGroupsOf(endpointId, attempt)
    const cause = groups.exact.id
    if (causes.has(cause)) return { cause, groups: null }
    causes.add(cause)
    return { cause, groups }
  }
  return progress.flatMap(({ outcomes }) =>
    outcomes
      .filter((outcome) => !arrivedAtOnce(outcome))
      .map((outcome) => ({ ...toTrouble(outcome), ...causeOf(outcome) })),
  )
}

const toTrouble = ({ delivery, version, settlement, attempt }: Outcome) => ({
  isRow: delivery.isRow,
  organizationId: delivery.organizationId,
  id: delivery.id,
  endpointId: delivery.endpointId,
  eventId: delivery.eventId,
  version,
  settlement: settlement.state,
  delay: settlement.state === "retry" ? settlement.delaySeconds : null,
  attempt,
})

/** Reports whether a delivery from the log arrived at its first attempt. */
const arrivedAtOnce = ({ delivery, settlement }: Outcome): boolean =>
  !delivery.isRow && settlement.state === "delivered"

/** The maximum time between the ids in one batch. A search for an id includes the batches that end up to this much later. */
export const BATCH_SPAN_MS = 8000

/** Groups deliveries of one endpoint that arrived at their first attempt into batches; each is a row of `delivered`. */
const toBatches = (outcomes: ReadonlyArray<Outcome>): ReadonlyArray<ReadonlyArray<Outcome>> => {
  const batches: Array<Array<Outcome>> = []
  for (const each of outcomes.toSorted((a, b) => (a.delivery.id < b.delivery.id ? -1 : 1))) {
    const batch = batches.at(-1)
    if (batch !== undefined && madeAt(each.delivery.id) - madeAt(batch[0]!.delivery.id) <= BATCH_SPAN_MS)
      batch.push(each)
    else batches.push([each])
  }
  return batches
}
