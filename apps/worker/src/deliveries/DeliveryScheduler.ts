import { afterCall } from "@outreach/domain/deliveries/breaker"
import { recordStart } from "@outreach/domain/deliveries/callRate"
import type { DeliveryReason } from "@outreach/domain/deliveries/classifyResponse"
import type { AttemptResult } from "@outreach/domain/deliveries/Deliveries"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { GivenUp, OwnedEndpoint, SigningSecret } from "@outreach/domain/deliveries/DeliveryLeases"
import { afterRead, answer, begin, putBack } from "@outreach/domain/deliveries/logReader"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Array as Arr } from "effect"
import { workerLimits } from "../workerLimits.ts"
import {
  callLimit,
  changeQueue,
  type EndpointQueue,
  type Held,
  isExclusive,
  nextCallAt,
  openQueue,
  queueTurns,
} from "./EndpointQueue.ts"

/** Outcomes of a partner whose calls hang. */
const TIMEOUTS: ReadonlySet<DeliveryReason> = new Set([
  "deadline",
  "headers_timeout",
  "connect_timeout",
  "name_not_asked",
])

const {
  shareOfFree,
  reservedShare,
  eventsPerRetry,
  quickMs,
  maxReadOfEndpoint,
  maxEndpointsPerRead,
  readAhead,
  maxHeld,
  maxWaitingWhenFull,
  pauseMs,
  defectDelaySeconds,
  currentMs,
} = workerLimits.deliveries

/**
 * Creates the scheduler of this worker's endpoints: it tracks the deliveries that are read, in flight and unwritten for each endpoint, and chooses the next call.
 *
 * Never blocks. The caller reads the endpoints in `toRead` and `toTake`, starts the calls that `begin` returns, and wakes up at `wakeAt`.
 * `now` is a monotonic clock in milliseconds; `callMs` is the timeout of a call.
 */
export const createDeliveryScheduler = (options: {
  readonly maxInFlight: number
  readonly perEndpoint: number
  readonly callMs: number
  readonly now: () => number
}) => {
  const { maxInFlight, perEndpoint, callMs, now } = options
  const queues = new Map<EndpointId, EndpointQueue>()
  /** Released or lost endpoints that still have calls in flight. */
  const removed = new Map<EndpointId, EndpointQueue>()
  const byOrganization = new Map<OrganizationId, Set<EndpointQueue>>()
  const turns = queueTurns()
  const toRead = new Set<EndpointQueue>()
  const toTake = new Set<EndpointQueue>()
  const toWrite = new Set<EndpointQueue>()
  const wakeUps = new Map<EndpointQueue, number>()
  const known = new Set<DeliveryId>()
  /** Endpoints with a newer version in the database than in memory: their calls are paused. */
  const outdated = new Set<EndpointQueue>()
  let inFlight = 0
  /** Number of endpoints with calls in flight. */
  let busy = 0
  /** Number of deliveries in memory whose calls haven't started. */
  let held = 0
  let isReadUrgent = false
  let isExclusiveRunning = false
  let turn = 0

  const limitOf = (queue: EndpointQueue) => callLimit(queue, perEndpoint, now())
  const slotsOf = (queue: EndpointQueue, waiting: number) => {
    const limit = limitOf(queue)
    // When memory is full of deliveries that can't be sent yet, each endpoint may still have a few.
    const ahead = held < maxHeld ? readAhead * limit : Math.min(limit, maxWaitingWhenFull)
    // At most one second's worth of calls.
    return Math.min(ahead, queue.endpoint.perSecond ?? ahead, maxReadOfEndpoint + waiting) - waiting
  }
  /** Number of rows that may be taken. Retries come before replays; replays wait while events are waiting. */
  const rowSlotsOf = (queue: EndpointQueue) => {
    const [first] = queue.due
    if (first !== undefined && (!first.delivery.isReplay || queue.waiting.length === 0)) return 0
    return slotsOf(queue, 0)
  }
  const wakeLater = (queue: EndpointQueue, at: number) => {
    if (Number.isFinite(at) && at < (wakeUps.get(queue) ?? Number.POSITIVE_INFINITY)) wakeUps.set(queue, at)
  }

  const plan = (queue: EndpointQueue) => {
    if (queue.isGone) return
    const at = now()
    const callsAt = nextCallAt(queue)
    if (callsAt > at) wakeLater(queue, callsAt)
    if (queue.waiting.length > 0 || queue.due.length > 0) turns.add(queue)
    const dueAt = queue.waiting.length > 0 ? queue.nextDueAt : Math.min(queue.nextDueAt, queue.nextReplayAt)
    if (dueAt > at) wakeLater(queue, dueAt)
    else if (rowSlotsOf(queue) > 0) toTake.add(queue)
    if (queue.read.length > 0) return
    const limit = Math.min(limitOf(queue), queue.endpoint.perSecond ?? Number.POSITIVE_INFINITY)
    const slots = slotsOf(queue, queue.waiting.length)
    const isUrgent = queue.waiting.length * 2 < limit
    // An endpoint that is at least half full is read only together with more urgent ones.
    if (slots <= 0 || (!isUrgent && slots * 2 < Math.min(readAhead * limit, maxReadOfEndpoint))) return
    if (queue.mayHaveUnread) {
      toRead.add(queue)
      isReadUrgent ||= isUrgent
    }
  }

  /**
   * Returns the number of calls available for endpoints that already have one. Each endpoint may use a share of them, so that hanging calls
   * don't block other endpoints. One call is reserved for each idle endpoint, up to half of all calls.
   */
  const freeForSecondCalls = () => maxInFlight - inFlight - Math.min(queues.size - busy, maxInFlight * reservedShare)

  /** Takes an endpoint's next delivery if its call may start now. */
  const nextOf = (queue: EndpointQueue): Held | undefined => {
    if (queue.isLeaving || queue.isFoundGone || queue.hasExclusiveCall || outdated.has(queue))
      return turns.leaveOut(queue)
    const { size } = queue.calls
    if (size >= 1 && size >= freeForSecondCalls() * shareOfFree) return undefined
    if (size >= limitOf(queue) || nextCallAt(queue) > now()) return turns.leaveOut(queue)
    const [due] = queue.due
    if (due !== undefined && isExclusive(due)) return isExclusiveRunning || size > 0 ? undefined : queue.due.shift()
    // A retry is sent after a few events, however many events are waiting.
    const isTurnOfDue = due !== undefined && !due.delivery.isReplay && ++turn % eventsPerRetry === 0
    return (isTurnOfDue ? queue.due.shift() : undefined) ?? queue.waiting.shift() ?? queue.due.shift()
  }

  const take = (from: Set<EndpointQueue>, slotsIn: (queue: EndpointQueue) => number) => {
    const wanted = new Map<EndpointQueue, number>()
    let total = 0
    for (const queue of from) {
      if (wanted.size === maxEndpointsPerRead || total >= maxHeld) break
      from.delete(queue)
      const slots = slotsIn(queue)
      if (slots > 0) wanted.set(queue, slots)
      total += Math.max(0, slots)
    }
    return wanted
  }

  const remove = (queue: EndpointQueue) => {
    if (!queue.isGone && queue.calls.size > 0) busy--
    queue.isGone = true
    if (queue.calls.size > 0) removed.set(queue.endpointId, queue)
    held -= queue.read.length + queue.waiting.length + queue.due.length
    queue.read = []
    for (const { delivery } of queue.due) known.delete(delivery.id)
    queue.waiting.length = 0
    queue.due.length = 0
    queues.delete(queue.endpointId)
    byOrganization.get(queue.organizationId)?.delete(queue)
    for (const set of [toRead, toTake, wakeUps, outdated]) set.delete(queue)
  }

  /** Adjusts the call limit to the result of a call. A defect that fails every call also counts as a failure for the breaker. */
  const learn = (queue: EndpointQueue, result: AttemptResult | undefined) => {
    if (result?.reason !== "name_not_asked") {
      const breaker = afterCall(queue.breaker, result !== undefined && result.verdict !== "transient", now())
      if (breaker !== queue.breaker) queue.isBreakerChanged = true
      queue.breaker = breaker
    }
    if (result === undefined) return
    const { reason, attempt } = result
    const bound = Math.min(perEndpoint, queue.endpoint.maxInFlight ?? perEndpoint)
    const allowance = Math.min(queue.allowance, bound)
    if (TIMEOUTS.has(reason)) queue.allowance = Math.max(1, Math.floor(allowance / 2))
    else if (attempt.latencyMs < quickMs) {
      queue.allowance = allowance + 1 < bound ? allowance + 1 : Number.POSITIVE_INFINITY
    }
  }

  /** Passes the deliveries found for each endpoint to `keep`, with whether there are no more for now, and schedules the endpoint. */
  const receive = (
    wanted: ReadonlyMap<EndpointQueue, number>,
    deliveries: ReadonlyArray<Delivery>,
    readAt: number,
    keep: (queue: EndpointQueue, found: ReadonlyArray<Held>, isAll: boolean) => void,
  ) => {
    const byEndpoint = Arr.groupBy(deliveries, ({ endpointId }) => endpointId)
    for (const [queue, limit] of wanted) {
      if (queue.isGone) continue
      const found = (byEndpoint[queue.endpointId] ?? []).map((delivery) => ({ delivery, readAt }))
      if (found.some(({ delivery }) => delivery.version > queue.endpoint.version)) outdated.add(queue)
      held += found.length
      keep(queue, found, found.length < limit)
      plan(queue)
    }
  }

  return {
    queues,
    /** Returns endpoints with a newer version in the database: call `update` before their next call. */
    outdated: (): ReadonlyArray<EndpointId> => [...outdated].map(({ endpointId }) => endpointId),
    /** Returns the endpoints that another worker still has calls in flight to. */
    calledElsewhere: (): ReadonlyArray<EndpointId> =>
      [...queues.values()].flatMap(({ endpointId, inFlightElsewhere }) => (inFlightElsewhere > 0 ? endpointId : [])),
    /** Endpoints whose logs may contain more events. Not urgent until one of them has few deliveries left. */
    toRead,
    isReadDue: () => isReadUrgent && toRead.size > 0,
    toTake,
    /** Endpoints with unwritten outcomes, including released ones. */
    toWrite,
    /** Deliveries in this worker's memory: rows it took, and unwritten calls. Endpoints may have rows that this worker doesn't know about. */
    known,
    /** Whether calls wait for their intent to be written. */
    isIntentDue: () => {
      for (const queue of toWrite) if (queue.read.length > 0) return true
      return false
    },
    /** Takes the endpoints to read now, with the number of events for each. */
    wantedOfLogs: (): ReadonlyMap<EndpointQueue, number> => {
      const wanted = take(toRead, (queue) => slotsOf(queue, queue.waiting.length))
      isReadUrgent = toRead.size > 0
      // A hint that arrives from now on may be too late for this reading.
      for (const queue of wanted.keys()) queue.mayHaveUnread = false
      return wanted
    },
    /** Takes the endpoints whose rows are due, with the number of rows for each. */
    wantedOfRows: (): ReadonlyMap<EndpointQueue, number> =>
      take(toTake, (queue) => {
        queue.takesReplays = queue.waiting.length === 0
        return Math.ceil(rowSlotsOf(queue) / 2)
      }),
    plan,
    remove,

    /** Stops further calls to an endpoint. Returns the state that the next owner needs. */
    leave: (queue: EndpointQueue): GivenUp => {
      queue.isLeaving = true
      const { endpointId, reader, due } = queue
      return {
        endpointId,
        calling: [...reader.calling, ...reader.answered],
        unsent: due.map(({ delivery }) => delivery.id),
      }
    },

    /** Returns the enabled endpoints with an unknown or outdated version. */
    changed: (owned: ReadonlyArray<OwnedEndpoint>): ReadonlyArray<OwnedEndpoint> =>
      owned.filter(
        ({ endpointId, version, enabled }) => enabled && queues.get(endpointId)?.endpoint.version !== version,
      ),

    /**
     * Updates this worker's endpoints from the database. Returns the lost endpoints and the disabled ones.
     *
     * `secrets` are the signing secrets of all `changed` endpoints. `owned` are all of this worker's endpoints, or those among `checked`.
     */
    update: (
      owned: ReadonlyArray<OwnedEndpoint>,
      secrets: ReadonlyMap<EndpointId, ReadonlyArray<SigningSecret>>,
      checked: Iterable<EndpointId> = queues.keys(),
    ) => {
      const known = new Set(owned.map(({ endpointId }) => endpointId))
      const lost = [...checked].flatMap((id) => (known.has(id) ? [] : (queues.get(id) ?? [])))
      const disabled: Array<EndpointQueue> = []
      for (const each of owned) {
        const queue = queues.get(each.endpointId)
        const secretsOf = secrets.get(each.endpointId) ?? []
        if (queue === undefined) {
          if (!each.enabled) continue
          const before = removed.get(each.endpointId)
          const opened = openQueue(each, secretsOf, now(), before?.endpoint.url === each.url ? before.calls : undefined)
          if (opened.calls.size > 0) busy++
          queues.set(each.endpointId, opened)
          const others = byOrganization.get(each.organizationId)
          if (others === undefined) byOrganization.set(each.organizationId, new Set([opened]))
          else others.add(opened)
          plan(opened)
        } else if (!each.enabled) disabled.push(queue)
        else {
          queue.isLeaving = false
          queue.inFlightElsewhere = each.inFlightElsewhere
          if (queue.endpoint.version !== each.version) {
            const wasBusy = queue.calls.size > 0
            changeQueue(queue, each, secretsOf, now())
            if (wasBusy && queue.calls.size === 0) busy--
            outdated.delete(queue)
          }
          plan(queue)
        }
      }
      return { lost, disabled }
    },

    /** Notes a new event or due row of an organization, or of any organization if it is null. */
    notify: (topic: "events" | "due", organizationId: OrganizationId | null) => {
      const meant = organizationId === null ? queues.values() : (byOrganization.get(organizationId) ?? [])
      for (const queue of meant) {
        if (topic === "events") queue.mayHaveUnread = true
        else queue.nextDueAt = Math.min(queue.nextDueAt, now())
        plan(queue)
      }
    },

    /** Notes that the logs of these endpoints contain more events. */
    readAgain: (endpointIds: ReadonlyArray<EndpointId>) => {
      for (const queue of endpointIds.flatMap((id) => queues.get(id) ?? [])) {
        queue.mayHaveUnread = true
        plan(queue)
      }
    },

    /** Stores deliveries read from the logs. */
    addRead: (wanted: ReadonlyMap<EndpointQueue, number>, deliveries: ReadonlyArray<Delivery>, readAt: number) => {
      receive(wanted, deliveries, readAt, (queue, found, isAll) => {
        queue.read = found
        queue.mayHaveUnread ||= !isAll
        if (found.length > 0) toWrite.add(queue)
      })
    },

    /** Notes that the intent to call for the read deliveries was written. */
    addCallable: (queue: EndpointQueue) => {
      queue.reader = afterRead(
        queue.reader,
        queue.read.map(({ delivery }) => delivery.eventId),
      )
      queue.waiting.push(...queue.read)
      queue.read = []
      plan(queue)
    },

    /** Stores the rows that were taken. Returns the endpoints without further rows for now. */
    addTaken: (wanted: ReadonlyMap<EndpointQueue, number>, deliveries: ReadonlyArray<Delivery>, readAt: number) => {
      const exhausted: Array<EndpointQueue> = []
      receive(wanted, deliveries, readAt, (queue, found, isAll) => {
        for (const { delivery } of found) known.add(delivery.id)
        const firstReplay = queue.due.findIndex(({ delivery }) => delivery.isReplay)
        queue.due.splice(firstReplay < 0 ? queue.due.length : firstReplay, 0, ...found)
        if (!isAll) return
        queue.nextDueAt = Number.POSITIVE_INFINITY
        if (queue.takesReplays) queue.nextReplayAt = Number.POSITIVE_INFINITY
        exhausted.push(queue)
      })
      return exhausted
    },

    /** Notes that an endpoint's next row (or next replay) is due in `millis`. */
    dueIn: (endpointId: EndpointId, millis: number, isReplay = false) => {
      const queue = queues.get(endpointId)
      if (queue === undefined) return
      const at = now() + Math.max(0, millis)
      if (isReplay) queue.nextReplayAt = Math.min(queue.nextReplayAt, at)
      else queue.nextDueAt = Math.min(queue.nextDueAt, at)
      plan(queue)
    },

    /** Notes that a worker with calls to this endpoint was lost. The calls count until their timeout; for `currentMs` it may start more. */
    noteLostWorker: (endpointId: EndpointId) => {
      const queue = queues.get(endpointId)
      if (queue === undefined) return
      const countsMs = Math.max(
        queue.endpoint.maxInFlight === null ? 0 : callMs,
        queue.endpoint.perSecond === null ? 0 : 1000,
      )
      if (countsMs > 0) queue.pausedUntil = Math.max(queue.pausedUntil, now() + currentMs + countsMs)
      queue.nextDueAt = now()
      plan(queue)
    },

    /** Schedules the endpoints whose time has come. */
    wake: (): void => {
      const at = now()
      for (const [queue, wakeUp] of wakeUps) {
        if (wakeUp > at) continue
        wakeUps.delete(queue)
        plan(queue)
      }
    },
    /** Time at which the next endpoint must be scheduled. */
    wakeAt: (): number => {
      let next = Number.POSITIVE_INFINITY
      for (const wakeUp of wakeUps.values()) next = Math.min(next, wakeUp)
      return next
    },

    /** Takes the next delivery whose call may start now. */
    begin: (): readonly [EndpointQueue, Held] | undefined => {
      if (inFlight >= maxInFlight) return undefined
      const next = turns.next(nextOf)
      if (next === undefined) return undefined
      const [queue, begun] = next
      known.add(begun.delivery.id)
      held--
      inFlight++
      if (queue.calls.size === 0) busy++
      queue.calls.add(begun)
      if (queue.endpoint.perSecond !== null) recordStart(queue.begun, now())
      if (isExclusive(begun)) isExclusiveRunning = queue.hasExclusiveCall = true
      if (!begun.delivery.isRow) queue.reader = begin(queue.reader)
      plan(queue)
      return next
    },

    /** Notes the result of a call; undefined if the call failed because of a defect. Returns whether there is an outcome to write. */
    ended: (queue: EndpointQueue, called: Held, result: AttemptResult | undefined): boolean => {
      inFlight--
      const current = queues.get(queue.endpointId)
      if (queue.calls.delete(called) && queue.calls.size === 0) {
        if (current?.calls === queue.calls) busy--
        if (removed.get(queue.endpointId)?.calls === queue.calls) removed.delete(queue.endpointId)
      }
      if (isExclusive(called)) isExclusiveRunning = queue.hasExclusiveCall = false
      // A call that started before the endpoint changed doesn't count for its current version.
      if (result === undefined || result.version === queue.endpoint.version) {
        learn(queue, result)
        // Writing the outcome disables the endpoint.
        queue.isFoundGone ||= result?.settlement.state === "gone"
      }
      const { isRow, eventId } = called.delivery
      // No request was sent, so this doesn't count as an attempt.
      const isNotMade = result?.reason === "name_not_asked"
      const isPutBack = isNotMade && !queue.isLeaving && !queue.isFoundGone && !queue.isGone
      if (isPutBack) {
        if (!isRow) queue.reader = putBack(queue.reader, eventId)
        ;(isRow ? queue.due : queue.waiting).unshift(called)
        held++
        queue.pausedUntil = now() + pauseMs
      } else {
        if (!isRow) queue.reader = answer(queue.reader, eventId)
        const outcome = result ?? {
          ...{ delivery: called.delivery, version: queue.endpoint.version },
          settlement: { state: "retry", delaySeconds: defectDelaySeconds },
        }
        queue.outcomes.push(isNotMade || result === undefined ? { ...outcome, attempt: null } : result)
        toWrite.add(queue)
      }
      if (current !== undefined) plan(current)
      return !isPutBack
    },
  }
}

export type DeliveryScheduler = ReturnType<typeof createDeliveryScheduler>
