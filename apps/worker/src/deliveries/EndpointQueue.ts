import { afterCall, type Breaker, CLOSED, callsAllowed } from "@outreach/domain/deliveries/breaker"
import { rateAllowsAt } from "@outreach/domain/deliveries/callRate"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import {
  type EndpointSecrets,
  EXCLUSIVE_FROM_LOSSES,
  type Outcome,
  type OwnedEndpoint,
  type Progress,
} from "@outreach/domain/deliveries/DeliveryLeases"
import { IDLE, type LogReader } from "@outreach/domain/deliveries/logReader"
import { type DeliveryReason, NOT_MADE } from "@outreach/domain/deliveries/settleAttempt"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import type { Redacted } from "effect"

/** A faster response increases the call limit by one. */
const QUICK_MS = 1000

/** Outcomes of a partner that responds too late, and of calls that weren't made. */
const TIMEOUTS: ReadonlyArray<string> = [
  ...(["deadline", "headers_timeout", "connect_timeout"] satisfies ReadonlyArray<DeliveryReason>),
  ...NOT_MADE,
]

/** A source of deliveries: the log, or rows of retries or of replays. */
export type Source = "log" | "retries" | "replays"

/** An endpoint owned by this worker, with its deliveries. Times are milliseconds of the monotonic clock. */
export interface EndpointQueue {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  /** Leaving: no new calls. Released or lost: results of calls in flight are written as rows, if at all. */
  ownership: "owned" | "leaving" | "released"
  /** The endpoint as last read. */
  endpoint: OwnedEndpoint
  /** Signing secrets of this version, with their expiry. */
  secrets: ReadonlyArray<{ readonly secret: Redacted.Redacted; readonly endsAt: number }>
  headers: EndpointSecrets["headers"]
  /** Deliveries of its log. */
  log: LogReader<Delivery>
  /** Delivery rows that were taken, replays last. */
  readonly due: Array<Delivery>
  /** Unwritten outcomes of both. */
  readonly outcomes: Array<Outcome>
  /** When each source may have more deliveries. */
  readonly nextAt: Record<Source, number>
  /** The endpoint with its current URL: calls to an earlier one don't count. */
  address: string
  /** Start times of the calls of the last second, if the endpoint has a rate. */
  readonly begun: Array<number>
  /** Current call limit for a slow partner: halved after a timeout, increased by one after a quick response. */
  allowance: number
  breaker: Breaker
  /** The breaker as it was written last. */
  storedBreaker: Breaker
  /** No call starts before this time: its last call wasn't made, or calls of another worker still count. */
  pausedUntil: number
}

export const openQueue = (owned: OwnedEndpoint, secrets: EndpointSecrets | undefined, now: number): EndpointQueue => ({
  endpointId: owned.endpointId,
  organizationId: owned.organizationId,
  ownership: "owned",
  ...stateOf(owned, secrets, now),
  log: IDLE,
  due: [],
  outcomes: [],
  nextAt: { log: 0, retries: 0, replays: Number.POSITIVE_INFINITY },
  begun: [],
  // Other workers' calls within the last second are unknown.
  pausedUntil: owned.perSecond === null ? 0 : now + 1000,
})

/** Applies a newer version. */
export const changeQueue = (
  queue: EndpointQueue,
  owned: OwnedEndpoint,
  secrets: EndpointSecrets | undefined,
  now: number,
): void => {
  // The new version may include event types that the old one excluded.
  queue.nextAt.log = now
  Object.assign(queue, stateOf(owned, secrets, now))
}

/** State that depends on the endpoint's version. Results of earlier calls no longer count. */
const stateOf = (
  owned: OwnedEndpoint,
  { signing, headers }: EndpointSecrets = { signing: [], headers: null },
  now: number,
) => {
  const { failures, allowance, probeInMs } = owned
  const breaker = failures === 0 && allowance === null ? CLOSED : { failures, allowance, probeAt: now + probeInMs }
  return {
    endpoint: owned,
    address: `${owned.endpointId} ${owned.url}`,
    secrets: signing.map(({ secret, endsInMs }) => ({ secret, endsAt: now + (endsInMs ?? Number.POSITIVE_INFINITY) })),
    headers,
    allowance: Number.POSITIVE_INFINITY,
    breaker,
    storedBreaker: breaker,
  }
}

/** Returns the secrets that are valid at a time. */
export const secretsAt = ({ secrets }: EndpointQueue, now: number): ReadonlyArray<Redacted.Redacted> =>
  secrets.flatMap(({ secret, endsAt }) => (now < endsAt ? secret : []))

/** Whether calls of an endpoint may start. */
export const hasCallable = ({ log, due }: EndpointQueue): boolean => log.waiting.length > 0 || due.length > 0

/** Whether a delivery must be sent alone, because it may have crashed its workers. */
export const isExclusive = ({ losses }: Delivery): boolean => losses >= EXCLUSIVE_FROM_LOSSES

/** Time at which the next call may start. */
export const nextCallAt = ({ endpoint: { perSecond }, begun, pausedUntil, breaker }: EndpointQueue): number =>
  Math.max(breaker.probeAt, pausedUntil, perSecond === null ? 0 : rateAllowsAt(perSecond, begun))

/** Maximum number of calls in flight to an endpoint: 0 without a secret, because webhooks are never sent unsigned. */
export const callLimit = (queue: EndpointQueue, perEndpoint: number, now: number): number => {
  const { endpoint, secrets, allowance, breaker, pausedUntil } = queue
  if (now < pausedUntil || !secrets.some(({ endsAt }) => now < endsAt)) return 0
  const limit = Math.min(perEndpoint, endpoint.maxInFlight ?? perEndpoint, allowance, callsAllowed(breaker, now))
  return Math.max(0, limit - endpoint.inFlightElsewhere)
}

/** Adjusts the breaker and the call limit to the outcome of a call. Calls that fail because of a defect also open the breaker. */
export const learn = (
  queue: EndpointQueue,
  { attempt, settlement }: Outcome,
  perEndpoint: number,
  now: number,
): void => {
  if (!isNotMade(attempt)) {
    queue.breaker = afterCall(queue.breaker, settlement !== "retry" && settlement !== "exhausted", now)
  }
  if (attempt === null) return
  const bound = Math.min(perEndpoint, queue.endpoint.maxInFlight ?? perEndpoint)
  const allowance = Math.min(queue.allowance, bound)
  if (TIMEOUTS.includes(attempt.outcome)) queue.allowance = Math.max(1, Math.floor(allowance / 2))
  else if (attempt.latencyMs !== null && attempt.latencyMs < QUICK_MS) {
    queue.allowance = allowance + 1 < bound ? allowance + 1 : Number.POSITIVE_INFINITY
  }
}

/** Whether no request was sent, so that it doesn't count as an attempt. */
export const isNotMade = (attempt: Outcome["attempt"]): boolean =>
  attempt !== null && NOT_MADE.includes(attempt.outcome)

/** Returns the data to write about an endpoint: outcomes, and the breaker if it has changed. */
export const progressOf = (queue: EndpointQueue, outcomes: ReadonlyArray<Outcome>, now: number): Progress => {
  const { endpointId, breaker } = queue
  // Calls in flight at the release of the endpoint have rows by now.
  if (queue.ownership === "released")
    return { endpointId, outcomes: outcomes.map((each) => ({ ...each, delivery: { ...each.delivery, isRow: true } })) }
  const { failures, allowance, probeAt } = breaker
  return {
    endpointId,
    breaker:
      breaker === queue.storedBreaker
        ? undefined
        : { version: queue.endpoint.version, failures, allowance, probeInMs: Math.max(0, probeAt - now) },
    outcomes,
  }
}

/** Returns the test whether outcomes include that of a delivery. Its event may also have a row, which is another delivery with a separate outcome. */
export const isSettledBy = (outcomes: ReadonlyArray<Outcome>): ((delivery: Delivery) => boolean) => {
  const settled = new Set<unknown>(outcomes.map(({ delivery }) => delivery))
  return (delivery) => settled.has(delivery)
}

/** Creates the order in which endpoints send: organizations take turns, and within each, its endpoints. */
export const queueTurns = () => {
  const organizations = new Map<OrganizationId, Set<EndpointQueue>>()
  return {
    /** Adds an endpoint to the rotation. */
    add: (queue: EndpointQueue): void => {
      const { organizationId } = queue
      organizations.set(organizationId, (organizations.get(organizationId) ?? new Set<EndpointQueue>()).add(queue))
    },

    /** Removes an endpoint from the rotation until it is added again. */
    leaveOut: (queue: EndpointQueue): undefined => {
      organizations.get(queue.organizationId)?.delete(queue)
    },

    /** Takes a delivery of the first endpoint that has one; removes endpoints without deliveries from the rotation. */
    next: (nextOf: (queue: EndpointQueue) => Delivery | undefined): readonly [EndpointQueue, Delivery] | undefined => {
      for (const [organizationId, queues] of organizations) {
        for (const queue of queues) {
          const delivery = nextOf(queue)
          if (!hasCallable(queue)) queues.delete(queue)
          if (delivery === undefined) continue
          if (queues.delete(queue)) queues.add(queue)
          organizations.delete(organizationId)
          if (queues.size > 0) organizations.set(organizationId, queues)
          return [queue, delivery]
        }
        if (queues.size === 0) organizations.delete(organizationId)
      }
      return undefined
    },
  }
}
