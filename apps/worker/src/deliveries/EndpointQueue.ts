import { type Breaker, CLOSED, callsAllowed } from "@outreach/domain/deliveries/breaker"
import { rateAllowsAt } from "@outreach/domain/deliveries/callRate"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import {
  ALONE_FROM_LOSSES,
  type Outcome,
  type OwnedEndpoint,
  type SigningSecret,
} from "@outreach/domain/deliveries/DeliveryLeases"
import { scheduleOf } from "@outreach/domain/deliveries/deliverySchedule"
import type { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { IDLE, type LogReader } from "@outreach/domain/deliveries/logReader"
import type { RetryRules } from "@outreach/domain/deliveries/settleAttempt"
import type { EndpointId, EventId, OrganizationId } from "@outreach/domain/Identifier"
import type { Schedule } from "@outreach/retry-policy"
import type { Redacted } from "effect"

/** A delivery in this worker's hands, and this worker's clock when it was read, in Unix milliseconds. */
export interface Held {
  readonly delivery: Delivery
  readonly readAt: number
}

/** An endpoint that this worker owns, and everything that it knows of its deliveries. Times are milliseconds of the monotonic clock. */
export interface EndpointQueue {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  /** The endpoint's version of which all that follows up to the secrets is. */
  version: number
  url: EndpointUrl
  /** The most calls in flight; null for the worker's own bound. */
  maxInFlight: number | null
  /** The most calls that begin within a second; null for no bound. */
  perSecond: number | null
  standardWebhooks: boolean
  retryStatuses: RetryRules["retryStatuses"]
  disableOnGone: boolean
  /** Its own; null for the worker's. */
  schedule: Schedule | null
  /** What signs, and until when. */
  secrets: ReadonlyArray<{ readonly secret: Redacted.Redacted; readonly endsAt: number }>
  /** Calls of workers that gave the endpoint up. */
  inFlightElsewhere: number
  reader: LogReader<EventId>
  /** Read from the log; calls may begin once the intent is written. */
  read: ReadonlyArray<Held>
  /** Calls may begin. */
  readonly waiting: Array<Held>
  /** Rows of deliveries that were taken, replays last. */
  readonly due: Array<Held>
  /** What is in flight to its address; not to one that it had before. */
  calls: Set<Held>
  /** When the calls of the last second began, if it has a rate. */
  readonly begun: Array<number>
  /** Whether a delivery is in flight that may not be beside another. */
  isAlone: boolean
  /** Fewer for a slow partner: half after a call that timed out, one more after one that was answered soon. */
  allowance: number
  breaker: Breaker
  /** Until then no call begins: its name had no turn, or calls of another worker still count. */
  pausedUntil: number
  isBreakerNews: boolean
  readonly outcomes: Array<Outcome>
  /** Whether the log may go on beyond what was read. */
  mayGoOn: boolean
  /** When the next row may be due, and the next that is a replay. */
  nextDueAt: number
  nextReplayAt: number
  /** Whether rows are taken of replays, too. */
  takesReplays: boolean
  /** Being given up: no call begins. */
  isLeaving: boolean
  /** A call found it gone: no call begins before its version changes. */
  isFoundGone: boolean
  /** Given up, or lost: its calls in flight are settled as rows, if at all. */
  isGone: boolean
}

/** Begins an endpoint. `calls` are those in flight from an earlier time at which it was this worker's. */
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
  isAlone: false,
  // Nothing is known of the calls that began elsewhere within the last second.
  pausedUntil: owned.perSecond === null ? 0 : now + 1000,
  outcomes: [],
  mayGoOn: true,
  nextDueAt: 0,
  nextReplayAt: Number.POSITIVE_INFINITY,
  takesReplays: true,
  isLeaving: false,
  isGone: false,
})

/** Takes over a newer version. What is in flight to an earlier address no longer counts. */
export const changeQueue = (
  queue: EndpointQueue,
  owned: OwnedEndpoint,
  secrets: ReadonlyArray<SigningSecret>,
  now: number,
): void => {
  if (queue.url !== owned.url) queue.calls = new Set()
  // It may want types of events that it did not want before.
  queue.mayGoOn = true
  Object.assign(queue, stateOf(owned, secrets, now))
}

/** What changes with an endpoint's version. How earlier calls ended no longer counts. */
const stateOf = (owned: OwnedEndpoint, secrets: ReadonlyArray<SigningSecret>, now: number) => ({
  version: owned.version,
  url: owned.url,
  maxInFlight: owned.maxInFlight,
  perSecond: owned.perSecond,
  standardWebhooks: owned.standardWebhooks,
  retryStatuses: owned.retryStatuses,
  disableOnGone: owned.disableOnGone,
  schedule: owned.retryDelays && scheduleOf(owned.retryDelays),
  secrets: secrets.map(({ secret, endsInMs }) => ({ secret, endsAt: now + (endsInMs ?? Number.POSITIVE_INFINITY) })),
  allowance: Number.POSITIVE_INFINITY,
  breaker: breakerOf(owned, now),
  isBreakerNews: false,
  isFoundGone: false,
})

/** Returns the secrets that sign at a moment. */
export const secretsAt = ({ secrets }: EndpointQueue, now: number): ReadonlyArray<Redacted.Redacted> =>
  secrets.flatMap(({ secret, endsAt }) => (now < endsAt ? secret : []))

/** Reads how the breaker stands in the database. */
const breakerOf = ({ failures, allowance, probeInMs }: OwnedEndpoint, now: number): Breaker =>
  failures === 0 && allowance === null ? CLOSED : { failures, allowance, probeAt: now + probeInMs }

/** When the next call may begin. */
export const nextCallAt = ({ perSecond, begun, pausedUntil, breaker }: EndpointQueue): number =>
  Math.max(breaker.probeAt, pausedUntil, perSecond === null ? 0 : rateAllowsAt(perSecond, begun))

/** How many calls may be in flight to an endpoint: none while nothing signs, because webhooks are never unsigned. */
export const callLimit = (queue: EndpointQueue, perEndpoint: number, now: number): number =>
  now >= queue.pausedUntil && queue.secrets.some(({ endsAt }) => now < endsAt)
    ? Math.max(
        0,
        Math.min(perEndpoint, queue.maxInFlight ?? perEndpoint, queue.allowance, callsAllowed(queue.breaker, now)) -
          queue.inFlightElsewhere,
      )
    : 0

/** Whether a delivery must be sent alone: its workers may have died of it. */
export const mustBeAlone = ({ delivery }: Held): boolean => delivery.losses >= ALONE_FROM_LOSSES

/** Creates the order in which endpoints with something to send have their turns: organizations take turns, and so do the endpoints of each. */
export const queueTurns = () => {
  const organizations = new Map<OrganizationId, Set<EndpointQueue>>()
  const moveToEnd = <K, V>(map: Map<K, V>, key: K, value: V) => {
    map.delete(key)
    map.set(key, value)
  }

  return {
    /** Lets an endpoint take part. */
    add: (queue: EndpointQueue): void => {
      const queues = organizations.get(queue.organizationId)
      if (queues === undefined) organizations.set(queue.organizationId, new Set([queue]))
      else queues.add(queue)
    },

    /** Lets an endpoint take part no longer, until it is added again. */
    leaveOut: (queue: EndpointQueue): undefined => {
      organizations.get(queue.organizationId)?.delete(queue)
    },

    /** Takes a delivery of the first endpoint that has one to begin; endpoints with nothing to send are left out from then on. */
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
