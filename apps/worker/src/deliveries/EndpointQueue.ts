import { type Breaker, CLOSED, callsAllowed } from "@outreach/domain/deliveries/breaker"
import { rateAllowsAt } from "@outreach/domain/deliveries/callRate"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import {
  EXCLUSIVE_FROM_LOSSES,
  type Outcome,
  type OwnedEndpoint,
  type SigningSecret,
} from "@outreach/domain/deliveries/DeliveryLeases"
import { scheduleOf } from "@outreach/domain/deliveries/deliverySchedule"
import { IDLE, type LogReader } from "@outreach/domain/deliveries/logReader"
import type { EndpointId, EventId, OrganizationId } from "@outreach/domain/Identifier"
import type { Schedule } from "@outreach/retry-policy"
import type { Redacted } from "effect"

/** A delivery in memory, with this worker's Unix time in milliseconds when it was read. */
export interface Held {
  readonly delivery: Delivery
  readonly readAt: number
}

/** An endpoint owned by this worker, with its deliveries. Times are milliseconds of the monotonic clock. */
export interface EndpointQueue {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  /** The endpoint when its version was read, which the schedule and the secrets belong to. */
  endpoint: OwnedEndpoint
  /** The endpoint's schedule; null for the worker's. */
  schedule: Schedule | null
  /** Signing secrets with their expiry. */
  secrets: ReadonlyArray<{ readonly secret: Redacted.Redacted; readonly endsAt: number }>
  /** Calls in flight of workers that released the endpoint. */
  inFlightElsewhere: number
  reader: LogReader<EventId>
  /** Read from the log; calls may start after the intent is written. */
  read: ReadonlyArray<Held>
  /** Ready to be called. */
  readonly waiting: Array<Held>
  /** Delivery rows that were taken, replays last. */
  readonly due: Array<Held>
  /** Calls in flight to the current URL. */
  calls: Set<Held>
  /** Start times of the calls of the last second, if the endpoint has a rate. */
  readonly begun: Array<number>
  /** Whether a delivery is in flight that must be sent alone. */
  hasExclusiveCall: boolean
  /** Current call limit for a slow partner: halved after a timeout, increased by one after a quick response. */
  allowance: number
  breaker: Breaker
  /** No call starts before this time: its name wasn't resolved yet, or calls of another worker still count. */
  pausedUntil: number
  isBreakerChanged: boolean
  readonly outcomes: Array<Outcome>
  /** Whether the log may contain events that weren't read yet. */
  mayHaveUnread: boolean
  /** When the next row, and the next replay, may be due. */
  nextDueAt: number
  nextReplayAt: number
  /** Whether to also take rows of replays. */
  takesReplays: boolean
  /** Being released: no new calls. */
  isLeaving: boolean
  /** A call returned gone: no new calls until its version changes. */
  isFoundGone: boolean
  /** Released or lost: results of calls in flight are written as rows, if at all. */
  isGone: boolean
}

/** Creates a queue. `calls` are still in flight from an earlier ownership of this worker. */
export const openQueue = (
  owned: OwnedEndpoint,
  secrets: ReadonlyArray<SigningSecret>,
  now: number,
  calls: Set<Held> = new Set(),
): EndpointQueue => ({
  endpointId: owned.endpointId,
  organizationId: owned.organizationId,
  inFlightElsewhere: owned.inFlightElsewhere,
  ...stateOf(owned, secrets, now),
  reader: IDLE,
  read: [],
  waiting: [],
  due: [],
  calls,
  begun: [],
  hasExclusiveCall: false,
  // Other workers' calls within the last second are unknown.
  pausedUntil: owned.perSecond === null ? 0 : now + 1000,
  outcomes: [],
  mayHaveUnread: true,
  nextDueAt: 0,
  nextReplayAt: Number.POSITIVE_INFINITY,
  takesReplays: true,
  isLeaving: false,
  isGone: false,
})

/** Applies a newer version. Calls in flight to an earlier URL no longer count. */
export const changeQueue = (
  queue: EndpointQueue,
  owned: OwnedEndpoint,
  secrets: ReadonlyArray<SigningSecret>,
  now: number,
): void => {
  if (queue.endpoint.url !== owned.url) queue.calls = new Set()
  // The new version may include event types that the old one excluded.
  queue.mayHaveUnread = true
  Object.assign(queue, stateOf(owned, secrets, now))
}

/** State that depends on the endpoint's version. Results of earlier calls no longer count. */
const stateOf = (owned: OwnedEndpoint, secrets: ReadonlyArray<SigningSecret>, now: number) => ({
  endpoint: owned,
  schedule: owned.retryDelays && scheduleOf(owned.retryDelays),
  secrets: secrets.map(({ secret, endsInMs }) => ({ secret, endsAt: now + (endsInMs ?? Number.POSITIVE_INFINITY) })),
  allowance: Number.POSITIVE_INFINITY,
  breaker: breakerOf(owned, now),
  isBreakerChanged: false,
  isFoundGone: false,
})

/** Returns the secrets that are valid at a time. */
export const secretsAt = ({ secrets }: EndpointQueue, now: number): ReadonlyArray<Redacted.Redacted> =>
  secrets.flatMap(({ secret, endsAt }) => (now < endsAt ? secret : []))

/** Returns the breaker state stored in the database. */
const breakerOf = ({ failures, allowance, probeInMs }: OwnedEndpoint, now: number): Breaker =>
  failures === 0 && allowance === null ? CLOSED : { failures, allowance, probeAt: now + probeInMs }

/** Time at which the next call may start. */
export const nextCallAt = ({ endpoint: { perSecond }, begun, pausedUntil, breaker }: EndpointQueue): number =>
  Math.max(breaker.probeAt, pausedUntil, perSecond === null ? 0 : rateAllowsAt(perSecond, begun))

/** Maximum number of calls in flight to an endpoint: 0 without a secret, because webhooks are never sent unsigned. */
export const callLimit = (queue: EndpointQueue, perEndpoint: number, now: number): number =>
  now >= queue.pausedUntil && queue.secrets.some(({ endsAt }) => now < endsAt)
    ? Math.max(
        0,
        Math.min(
          perEndpoint,
          queue.endpoint.maxInFlight ?? perEndpoint,
          queue.allowance,
          callsAllowed(queue.breaker, now),
        ) - queue.inFlightElsewhere,
      )
    : 0

/** Whether a delivery must be sent alone, because it may have crashed its workers. */
export const isExclusive = ({ delivery }: Held): boolean => delivery.losses >= EXCLUSIVE_FROM_LOSSES

/** Creates the order in which endpoints send: organizations take turns, and within each, its endpoints. */
export const queueTurns = () => {
  const organizations = new Map<OrganizationId, Set<EndpointQueue>>()
  const moveToEnd = <K, V>(map: Map<K, V>, key: K, value: V) => {
    map.delete(key)
    map.set(key, value)
  }

  return {
    /** Adds an endpoint to the rotation. */
    add: (queue: EndpointQueue): void => {
      const queues = organizations.get(queue.organizationId)
      if (queues === undefined) organizations.set(queue.organizationId, new Set([queue]))
      else queues.add(queue)
    },

    /** Removes an endpoint from the rotation until it is added again. */
    leaveOut: (queue: EndpointQueue): undefined => {
      organizations.get(queue.organizationId)?.delete(queue)
    },

    /** Takes a delivery of the first endpoint that has one; removes endpoints without deliveries from the rotation. */
    next: (nextOf: (queue: EndpointQueue) => Held | undefined): readonly [EndpointQueue, Held] | undefined => {
      for (const [organizationId, queues] of organizations) {
        for (const queue of queues) {
          const held = nextOf(queue)
          if (queue.waiting.length === 0 && queue.due.length === 0) queues.delete(queue)
          if (held === undefined) continue
          if (queues.delete(queue)) queues.add(queue)
          if (queues.size === 0) organizations.delete(organizationId)
          else moveToEnd(organizations, organizationId, queues)
          return [queue, held]
        }
        if (queues.size === 0) organizations.delete(organizationId)
      }
      return undefined
    },
  }
}
