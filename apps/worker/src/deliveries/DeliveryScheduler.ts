import type { Breaker } from "@outreach/domain/deliveries/breaker"
import { recordStart } from "@outreach/domain/deliveries/callRate"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type {
  EndpointSecrets,
  GivenUp,
  NextDue,
  Outcome,
  OwnedEndpoint,
  Wanted,
} from "@outreach/domain/deliveries/DeliveryLeases"
import { afterRead, afterWrite, begin, eventsOf, IDLE, putBack } from "@outreach/domain/deliveries/logReader"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Array as Arr } from "effect"
import {
  callLimit,
  changeQueue,
  type EndpointQueue,
  hasCallable,
  isExclusive,
  isNotMade,
  isSettledBy,
  learn,
  nextCallAt,
  openQueue,
  queueTurns,
  type Source,
} from "./EndpointQueue.ts"

/** How long calls may start after the database confirmed the state of endpoints. */
export const CURRENT_MS = 2000
/** Share of the free calls that an endpoint with a call in flight may use. */
const SHARE_OF_FREE = 1 / 8
/** Share of all calls reserved for first calls to idle endpoints. */
const RESERVED_SHARE = 1 / 2
/** If events and retries wait, one in this many calls is a retry. */
const EVENTS_PER_RETRY = 4
/** Maximum number of events per endpoint, and of endpoints, read by one statement. */
export const MAX_READ_OF_ENDPOINT = 64
export const MAX_ENDPOINTS_PER_READ = 200
/** Deliveries in memory per allowed call in flight of an endpoint. */
export const READ_AHEAD = 4
/** Limit for all endpoints; above it, each endpoint may have a few. */
export const MAX_HELD = 4096
export const MAX_WAITING_WHEN_FULL = 4
/** Number of unwritten outcomes from which no call starts: their calls are repeated if the worker is killed. */
export const MAX_UNWRITTEN = 88
/** Pause of an endpoint after a call that wasn't made. */
export const PAUSE_MS = 5000

/** A call in flight. */
export interface Call {
  readonly queue: EndpointQueue
  readonly delivery: Delivery
  readonly address: string
}

/** What is written together about an endpoint, and its breaker at that time. */
export interface Write {
  readonly queue: EndpointQueue
  readonly outcomes: ReadonlyArray<Outcome>
  readonly breaker: Breaker
}

/** Endpoints for which deliveries are read, with what is wanted of each. */
type WantedQueues = ReadonlyMap<EndpointQueue, Wanted>

/**
 * Creates the scheduler of this worker's endpoints: it tracks the deliveries that are read, in flight and unwritten for each endpoint, and chooses the next call.
 *
 * Never blocks. The caller reads the endpoints in `toRead` and `toTake`, refreshes those in `toRefresh`, starts the calls that `begin` returns, and wakes up at `wakeAt`. `now` is a monotonic clock in milliseconds; `callMs` is the timeout of a call.
 */
export const createDeliveryScheduler = (options: {
  readonly maxInFlight: number
  readonly perEndpoint: number
  readonly callMs: number
  readonly now: () => number
}) => {
  const { maxInFlight, perEndpoint, callMs, now } = options
  const queues = new Map<EndpointId, EndpointQueue>()
  const byOrganization = new Map<OrganizationId, Set<EndpointQueue>>()
  /** Number of calls in flight by address. They may last longer than the ownership of the endpoint. */
  const calls = new Map<string, number>()
  const turns = queueTurns()
  const toRead = new Set<EndpointQueue>()
  const toTake = new Set<EndpointQueue>()
  const toWrite = new Set<EndpointQueue>()
  const toRefresh = new Set<EndpointQueue>()
  const wakeUps = new Map<EndpointQueue, number>()
  const known = new Set<DeliveryId>()
  let inFlight = 0
  /** Number of deliveries in memory whose calls haven't started. */
  let held = 0
  /** Number of outcomes that may not be in the database. */
  let unwritten = 0
  let isReadUrgent = false
  /** The endpoint with a call in flight that must be alone. */
  let exclusive: EndpointId | undefined
  let turn = 0

  const callsTo = ({ address }: EndpointQueue) => calls.get(address) ?? 0
  const limitOf = (queue: EndpointQueue) => callLimit(queue, perEndpoint, now())
  const slotsOf = (queue: EndpointQueue, waiting: number) => {
    const limit = limitOf(queue)
    // When memory is full of deliveries that can't be sent yet, each endpoint may still have a few.
    const ahead = held < MAX_HELD ? READ_AHEAD * limit : Math.min(limit, MAX_WAITING_WHEN_FULL)
    // At most one second's worth of calls.
    return Math.min(ahead, queue.endpoint.perSecond ?? ahead, MAX_READ_OF_ENDPOINT + waiting) - waiting
  }
  /** Number of events that may be read. */
  const slotsOfLog = (queue: EndpointQueue) => slotsOf(queue, queue.log.waiting.length)
  /** Number of rows that may be taken. Retries come before replays; replays wait while events are waiting. */
  const slotsOfRows = (queue: EndpointQueue) => {
    const [first] = queue.due
    if (first !== undefined && (!first.isReplay || queue.log.waiting.length === 0)) return 0
    return slotsOf(queue, 0)
  }
  const wakeLater = (queue: EndpointQueue, at: number) => {
    if (Number.isFinite(at) && at < (wakeUps.get(queue) ?? Number.POSITIVE_INFINITY)) wakeUps.set(queue, at)
  }

  const plan = (queue: EndpointQueue) => {
    if (queue.ownership === "released") return
    const at = now()
    const { log, nextAt } = queue
    const callsAt = nextCallAt(queue)
    if (callsAt > at) wakeLater(queue, callsAt)
    if (hasCallable(queue)) turns.add(queue)
    const dueAt = log.waiting.length > 0 ? nextAt.retries : Math.min(nextAt.retries, nextAt.replays)
    if (dueAt > at) wakeLater(queue, dueAt)
    else if (slotsOfRows(queue) > 0) toTake.add(queue)
    if (nextAt.log > at) return
    const limit = Math.min(limitOf(queue), queue.endpoint.perSecond ?? Number.POSITIVE_INFINITY)
    const slots = slotsOfLog(queue)
    const isUrgent = log.waiting.length * 2 < limit
    // An endpoint that is at least half full is read only together with more urgent ones.
    if (slots <= 0 || (!isUrgent && slots * 2 < Math.min(READ_AHEAD * limit, MAX_READ_OF_ENDPOINT))) return
    toRead.add(queue)
    isReadUrgent ||= isUrgent
  }

  /** Notes that a source of an endpoint may have more deliveries at a time. */
  const mayHaveMore = (queue: EndpointQueue, source: Source, at = now()) => {
    queue.nextAt[source] = Math.min(queue.nextAt[source], at)
    plan(queue)
  }

  /**
   * Returns the number of calls available for endpoints that already have one. Each endpoint may use a share of them, so that hanging calls
   * don't block other endpoints. One call is reserved for each idle endpoint, up to half of all calls.
   */
  const freeForSecondCalls = () => {
    const idle = Math.max(0, queues.size - calls.size)
    return maxInFlight - inFlight - Math.min(idle, maxInFlight * RESERVED_SHARE)
  }

  const nextOfLog = (queue: EndpointQueue): Delivery | undefined => {
    const [next] = queue.log.waiting
    queue.log = begin(queue.log)
    return next
  }

  /** Takes an endpoint's next delivery if its call may start now. */
  const nextOf = (queue: EndpointQueue): Delivery | undefined => {
    if (queue.ownership !== "owned" || toRefresh.has(queue) || exclusive === queue.endpointId)
      return turns.leaveOut(queue)
    const begun = callsTo(queue)
    if (begun >= 1 && begun >= freeForSecondCalls() * SHARE_OF_FREE) return undefined
    if (begun >= limitOf(queue) || nextCallAt(queue) > now()) return turns.leaveOut(queue)
    const [due] = queue.due
    if (due !== undefined && isExclusive(due))
      return exclusive !== undefined || begun > 0 ? undefined : queue.due.shift()
    // A retry is sent after a few events, however many events are waiting.
    const isTurnOfDue = due !== undefined && !due.isReplay && ++turn % EVENTS_PER_RETRY === 0
    return (isTurnOfDue ? queue.due.shift() : undefined) ?? nextOfLog(queue) ?? queue.due.shift()
  }

  /** Takes the endpoints to read from, up to the limits of one statement. */
  const take = (from: Set<EndpointQueue>, slotsIn: (queue: EndpointQueue) => number): WantedQueues => {
    const wanted = new Map<EndpointQueue, Wanted>()
    let total = 0
    for (const queue of from) {
      if (wanted.size === MAX_ENDPOINTS_PER_READ || total >= MAX_HELD) break
      from.delete(queue)
      const limit = slotsIn(queue)
      if (limit <= 0) continue
      const { endpointId, log } = queue
      const events = eventsOf(log).map(({ eventId }) => eventId)
      wanted.set(queue, { endpointId, limit, events, takesReplays: log.waiting.length === 0 })
      total += limit
    }
    return wanted
  }

  /**
   * Passes the deliveries found for each endpoint to `keep`, with whether there are no more for now, and schedules the endpoint. `keep` returns the
   * number of deliveries that it added.
   */
  const receive = (
    wanted: WantedQueues,
    deliveries: ReadonlyArray<Delivery>,
    keep: (queue: EndpointQueue, found: ReadonlyArray<Delivery>, isAll: boolean, wanted: Wanted) => number,
  ) => {
    const byEndpoint = Arr.groupBy(deliveries, ({ endpointId }) => endpointId)
    for (const [queue, each] of wanted) {
      if (queue.ownership === "released") continue
      const found = byEndpoint[queue.endpointId] ?? []
      if (found.some(({ version }) => version > queue.endpoint.version)) toRefresh.add(queue)
      held += keep(queue, found, found.length < each.limit, each)
      plan(queue)
    }
  }

  const open = (owned: OwnedEndpoint, secrets: EndpointSecrets | undefined) => {
    const queue = openQueue(owned, secrets, now())
    const { endpointId, organizationId } = queue
    queues.set(endpointId, queue)
    byOrganization.set(organizationId, (byOrganization.get(organizationId) ?? new Set<EndpointQueue>()).add(queue))
    plan(queue)
  }

  const remove = (queue: EndpointQueue): void => {
    if (queue.ownership === "released") return
    queue.ownership = "released"
    const { endpointId, log, due } = queue
    held -= log.waiting.length + due.length
    for (const { id } of due) known.delete(id)
    queue.log = IDLE
    due.length = 0
    queues.delete(endpointId)
    byOrganization.get(queue.organizationId)?.delete(queue)
    for (const set of [toRead, toTake, toRefresh, wakeUps]) set.delete(queue)
  }

  return {
    queues,
    /** Whether there are no deliveries in memory and no calls in flight. */
    isIdle: () => held === 0 && inFlight === 0,
    /** Returns the number of calls in flight to an endpoint's address. */
    callsTo,
    /** Endpoints whose logs may contain more events. Not urgent until one of them has few deliveries left. */
    toRead,
    isReadDue: () => isReadUrgent && toRead.size > 0,
    /** Endpoints that may have due rows. */
    toTake,
    /** Endpoints with an older version in memory than in the database, now or once a 410 is written. No call starts before their `update`. */
    toRefresh,
    /** Deliveries in this worker's memory: rows it took, and unwritten calls. Endpoints may have rows that this worker doesn't know about. */
    known,
    /** Returns the endpoints that another worker still has calls in flight to. */
    calledElsewhere: (): ReadonlyArray<EndpointId> =>
      [...queues.values()].flatMap(({ endpointId, endpoint }) => (endpoint.inFlightElsewhere > 0 ? endpointId : [])),
    unwritten: () => unwritten,
    /** Takes the endpoints to read now, with the number of events for each. */
    wantedOfLogs: (): WantedQueues => {
      const wanted = take(toRead, slotsOfLog)
      isReadUrgent = toRead.size > 0
      // A hint that arrives from now on may be too late for this reading.
      for (const queue of wanted.keys()) queue.nextAt.log = Number.POSITIVE_INFINITY
      return wanted
    },
    /** Takes the endpoints whose rows are due, with the number of rows for each. */
    wantedOfRows: (): WantedQueues => take(toTake, (queue) => Math.ceil(slotsOfRows(queue) / 2)),

    /** Removes an endpoint that was released or lost. */
    remove,

    /** Stops further calls to an endpoint. Returns the state that the next owner needs. */
    leave: (queue: EndpointQueue): GivenUp => {
      queue.ownership = "leaving"
      const { endpointId, log, due } = queue
      return { endpointId, calling: log.called.map(({ eventId }) => eventId), unsent: due.map(({ id }) => id) }
    },

    /** Returns the enabled endpoints with an unknown or outdated version. */
    changed: (owned: ReadonlyArray<OwnedEndpoint>): ReadonlyArray<OwnedEndpoint> =>
      owned.filter(
        ({ endpointId, version, enabled }) => enabled && queues.get(endpointId)?.endpoint.version !== version,
      ),

    /**
     * Updates this worker's endpoints from the database. Returns the lost endpoints and the disabled ones.
     *
     * `secrets` are those of all `changed` endpoints. `owned` are all of this worker's endpoints, or those among `checked`.
     */
    update: (
      owned: ReadonlyArray<OwnedEndpoint>,
      secrets: ReadonlyMap<EndpointId, EndpointSecrets>,
      checked: Iterable<EndpointId> = queues.keys(),
    ) => {
      const ids = new Set(owned.map(({ endpointId }) => endpointId))
      const lost = [...checked].flatMap((id) => (ids.has(id) ? [] : (queues.get(id) ?? [])))
      const disabled: Array<EndpointQueue> = []
      for (const each of owned) {
        const queue = queues.get(each.endpointId)
        const secretsOf = secrets.get(each.endpointId)
        if (!each.enabled) {
          if (queue !== undefined) disabled.push(queue)
        } else if (queue === undefined) open(each, secretsOf)
        else {
          queue.ownership = "owned"
          if (queue.endpoint.version === each.version) queue.endpoint = each
          else {
            changeQueue(queue, each, secretsOf, now())
            toRefresh.delete(queue)
          }
          plan(queue)
        }
      }
      return { lost, disabled }
    },

    /** Notes a new event or due row of an organization, or of any organization if it is null. */
    notify: (topic: "events" | "due", organizationId: OrganizationId | null): void => {
      const meant = organizationId === null ? queues.values() : (byOrganization.get(organizationId) ?? [])
      for (const queue of meant) mayHaveMore(queue, topic === "events" ? "log" : "retries")
    },

    /** Notes that the logs of endpoints whose reading failed contain more events. */
    readAgain: (wanted: WantedQueues): void => {
      for (const queue of wanted.keys()) mayHaveMore(queue, "log")
    },

    /** Notes that an endpoint's next row, or its next replay, is due. */
    dueIn: ({ endpointId, inMs, isReplay }: NextDue): void => {
      const queue = queues.get(endpointId)
      if (queue !== undefined) mayHaveMore(queue, isReplay ? "replays" : "retries", now() + Math.max(0, inMs))
    },

    /** Notes that a worker with calls to this endpoint was lost. The calls count until their timeout; for `CURRENT_MS` it may start more. */
    noteLostWorker: (endpointId: EndpointId): void => {
      const queue = queues.get(endpointId)
      if (queue === undefined) return
      const { maxInFlight, perSecond } = queue.endpoint
      const countsMs = Math.max(maxInFlight === null ? 0 : callMs, perSecond === null ? 0 : 1000)
      if (countsMs > 0) queue.pausedUntil = Math.max(queue.pausedUntil, now() + CURRENT_MS + countsMs)
      mayHaveMore(queue, "retries")
    },

    /** Stores deliveries read from the logs. */
    addRead: (wanted: WantedQueues, deliveries: ReadonlyArray<Delivery>): void => {
      receive(wanted, deliveries, (queue, found, isAll, { events }) => {
        if (!isAll) queue.nextAt.log = now()
        // A standby that became primary may lack the last positions: it returns the events after them again.
        const known = new Set(events)
        const added = found.filter(({ eventId }) => !known.has(eventId))
        queue.log = afterRead(queue.log, added)
        return added.length
      })
    },

    /** Stores the rows that were taken. Returns the endpoints without further rows for now. */
    addTaken: (wanted: WantedQueues, deliveries: ReadonlyArray<Delivery>): ReadonlyArray<EndpointId> => {
      const exhausted: Array<EndpointId> = []
      receive(wanted, deliveries, (queue, found, isAll, { takesReplays }) => {
        for (const { id } of found) known.add(id)
        const firstReplay = queue.due.findIndex(({ isReplay }) => isReplay)
        queue.due.splice(firstReplay < 0 ? queue.due.length : firstReplay, 0, ...found)
        if (isAll) {
          queue.nextAt.retries = Number.POSITIVE_INFINITY
          if (takesReplays) queue.nextAt.replays = Number.POSITIVE_INFINITY
          exhausted.push(queue.endpointId)
        }
        return found.length
      })
      return exhausted
    },

    /** Takes the unwritten outcomes of the endpoints, including released ones. */
    takeWrites: (): ReadonlyArray<Write> => {
      const writes = [...toWrite].map((queue) => ({
        queue,
        outcomes: queue.outcomes.splice(0),
        breaker: queue.breaker,
      }))
      toWrite.clear()
      return writes
    },

    /** Notes that an endpoint's outcomes were written, or that it has another owner. */
    afterWrite: ({ queue, outcomes, breaker }: Write, isLost: boolean): void => {
      unwritten -= outcomes.length
      if (isLost) remove(queue)
      if (queue.ownership === "released") return
      queue.log = afterWrite(queue.log, isSettledBy(outcomes))
      queue.storedBreaker = breaker
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
    begin: (): Call | undefined => {
      if (inFlight >= maxInFlight || unwritten >= MAX_UNWRITTEN) return undefined
      const next = turns.next(nextOf)
      if (next === undefined) return undefined
      const [queue, delivery] = next
      const { address } = queue
      known.add(delivery.id)
      held--
      inFlight++
      calls.set(address, callsTo(queue) + 1)
      if (queue.endpoint.perSecond !== null) recordStart(queue.begun, now())
      if (isExclusive(delivery)) exclusive = queue.endpointId
      plan(queue)
      return { queue, delivery, address }
    },

    /** Notes the end of a call. */
    ended: ({ queue, delivery, address }: Call, outcome: Outcome): void => {
      const current = queues.get(queue.endpointId)
      inFlight--
      const left = calls.get(address)! - 1
      if (left > 0) calls.set(address, left)
      else calls.delete(address)
      if (isExclusive(delivery)) exclusive = undefined
      // A call that started before the endpoint changed doesn't count for its current version.
      if (outcome.version === queue.endpoint.version) {
        learn(queue, outcome, perEndpoint, now())
        // Writing the outcome disables the endpoint.
        if (outcome.settlement === "gone" && queue === current) toRefresh.add(queue)
      }
      const isUnmade = isNotMade(outcome.attempt)
      if (isUnmade && queue.ownership === "owned") {
        if (delivery.isRow) queue.due.unshift(delivery)
        else queue.log = putBack(queue.log, delivery)
        held++
        queue.pausedUntil = now() + PAUSE_MS
      } else {
        queue.outcomes.push(isUnmade ? { ...outcome, attempt: null } : outcome)
        unwritten++
        toWrite.add(queue)
      }
      if (current !== undefined) plan(current)
    },
  }
}

export type DeliveryScheduler = ReturnType<typeof createDeliveryScheduler>
