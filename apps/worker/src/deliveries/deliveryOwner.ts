import { afterCall } from "@outreach/domain/deliveries/breaker"
import type { AttemptResult } from "@outreach/domain/deliveries/Deliveries"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import type { GivenUp, OwnedEndpoint, SigningSecret } from "@outreach/domain/deliveries/EndpointReaders"
import { afterRead, answer, begin, putBack } from "@outreach/domain/deliveries/logReader"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import type { Reason } from "@outreach/retry-policy"
import { workerLimits } from "../workerLimits.ts"
import {
  callLimit,
  changeLane,
  type DeliveryLane,
  type Held,
  laneTurns,
  mustBeAlone,
  openLane,
} from "./deliveryLane.ts"

/** The outcomes of a partner that lets calls hang. */
const TIMEOUTS: ReadonlySet<Reason> = new Set(["deadline", "headers_timeout", "connect_timeout", "name_not_asked"])

const {
  shareOfFree,
  reservedShare,
  eventsPerRetry,
  quickMs,
  hotMs,
  lookAgainMs,
  maxReadOfEndpoint,
  maxEndpointsPerRead,
  readAhead,
  maxHeld,
  maxWaitingWhenFull,
  pauseMs,
} = workerLimits.deliveries

/**
 * Creates what decides which delivery is sent next: the endpoints of this worker, and what is read, in flight and unwritten of each.
 *
 * Nothing here waits. Whoever uses it reads what `toRead` and `toTake` list, begins the calls that `next` returns, and is woken at `wakeAt`.
 * `now` is a monotonic clock in milliseconds.
 */
export const deliveryOwner = (options: {
  readonly maxInFlight: number
  readonly perEndpoint: number
  readonly now: () => number
}) => {
  const { maxInFlight, perEndpoint, now } = options
  const lanes = new Map<EndpointId, DeliveryLane>()
  const byOrganization = new Map<OrganizationId, Set<DeliveryLane>>()
  const turns = laneTurns()
  const toRead = new Set<DeliveryLane>()
  const toTake = new Set<DeliveryLane>()
  const toWrite = new Set<DeliveryLane>()
  const wakeUps = new Map<DeliveryLane, number>()
  const known = new Set<DeliveryId>()
  /** The endpoints of which something was read that is of a newer version than what is known of them: no call begins. */
  const outdated = new Set<DeliveryLane>()
  let inFlight = 0
  /** Endpoints with calls in flight. */
  let busy = 0
  /** Deliveries in memory whose calls have not begun. */
  let held = 0
  let isReadUrgent = false
  let isOneAlone = false
  let turn = 0

  const limitOf = (lane: DeliveryLane) => callLimit(lane, perEndpoint, now())
  const roomOf = (lane: DeliveryLane, waiting: number) => {
    const limit = limitOf(lane)
    // However many others have filled the memory with what cannot be sent now, each may hold a few.
    const ahead = held < maxHeld ? readAhead * limit : Math.min(limit, maxWaitingWhenFull)
    return Math.min(ahead - waiting, maxReadOfEndpoint)
  }
  const wakeLater = (lane: DeliveryLane, at: number) => {
    if (Number.isFinite(at) && at < (wakeUps.get(lane) ?? Number.POSITIVE_INFINITY)) wakeUps.set(lane, at)
  }

  /** Finds out what an endpoint needs next. */
  const look = (lane: DeliveryLane) => {
    if (lane.isGone) return
    const at = now()
    const callsAt = Math.max(lane.breaker.probeAt, lane.pausedUntil)
    if (callsAt > at) wakeLater(lane, callsAt)
    if (lane.waiting.length > 0 || lane.due.length > 0) turns.add(lane)
    if (lane.nextDueAt > at) wakeLater(lane, lane.nextDueAt)
    else if (roomOf(lane, lane.due.length) > 0 && lane.due.length === 0) toTake.add(lane)
    if (lane.read.length > 0) return
    const limit = limitOf(lane)
    const room = roomOf(lane, lane.waiting.length)
    const isUrgent = lane.waiting.length * 2 < limit
    // One that has half of what it may hold is read with those that need it more.
    if (room <= 0 || (!isUrgent && room * 2 < Math.min(readAhead * limit, maxReadOfEndpoint))) return
    if (lane.mayGoOn) {
      toRead.add(lane)
      isReadUrgent ||= isUrgent
    } else if (isUrgent && at < lane.hotUntil) wakeLater(lane, lane.lookAt)
  }

  /**
   * The calls that are free for endpoints which have one already. Each may have a share of them, so that endpoints whose calls hang leave
   * the others theirs; one call is kept for each endpoint that has none, as far as half of all calls go.
   */
  const freeForSecondCalls = () => maxInFlight - inFlight - Math.min(lanes.size - busy, maxInFlight * reservedShare)

  /** Takes the next delivery of an endpoint whose call may begin now. */
  const nextOf = (lane: DeliveryLane): Held | undefined => {
    if (lane.isLeaving || lane.isAlone || outdated.has(lane)) return turns.leaveOut(lane)
    const { size } = lane.calls
    if (size >= 1 && size >= freeForSecondCalls() * shareOfFree) return undefined
    if (size >= limitOf(lane)) return turns.leaveOut(lane)
    const [due] = lane.due
    if (due !== undefined && mustBeAlone(due)) return isOneAlone || size > 0 ? undefined : lane.due.shift()
    // A retry has its turn after some events, however many of those wait.
    const isTurnOfDue = due !== undefined && !due.delivery.isReplay && ++turn % eventsPerRetry === 0
    return (isTurnOfDue ? lane.due.shift() : undefined) ?? lane.waiting.shift() ?? lane.due.shift()
  }

  const take = (from: Set<DeliveryLane>, roomIn: (lane: DeliveryLane) => number) => {
    const wanted = new Map<DeliveryLane, number>()
    let total = 0
    for (const lane of from) {
      if (wanted.size === maxEndpointsPerRead || total >= maxHeld) break
      from.delete(lane)
      const room = roomIn(lane)
      if (room > 0) wanted.set(lane, room)
      total += Math.max(0, room)
    }
    return wanted
  }

  const remove = (lane: DeliveryLane) => {
    if (!lane.isGone && lane.calls.size > 0) busy--
    lane.isGone = true
    held -= lane.read.length + lane.waiting.length + lane.due.length
    lane.read = []
    for (const { delivery } of lane.due) known.delete(delivery.id)
    lane.waiting.length = 0
    lane.due.length = 0
    lanes.delete(lane.endpointId)
    byOrganization.get(lane.organizationId)?.delete(lane)
    for (const set of [toRead, toTake, wakeUps, outdated]) set.delete(lane)
  }

  /** Takes from the outcome of a call how many more there may be. */
  const learn = (lane: DeliveryLane, { verdict, reason, attempt }: AttemptResult) => {
    if (reason !== "name_not_asked") {
      const breaker = afterCall(lane.breaker, verdict !== "transient", now())
      if (breaker !== lane.breaker) lane.isBreakerNews = true
      lane.breaker = breaker
    }
    const bound = Math.min(perEndpoint, lane.maxInFlight ?? perEndpoint)
    const allowance = Math.min(lane.allowance, bound)
    if (TIMEOUTS.has(reason)) lane.allowance = Math.max(1, Math.floor(allowance / 2))
    else if (attempt.latencyMs < quickMs) {
      lane.allowance = allowance + 1 < bound ? allowance + 1 : Number.POSITIVE_INFINITY
    }
  }

  const noteVersions = (lane: DeliveryLane, deliveries: ReadonlyArray<Delivery>) => {
    if (deliveries.some(({ version }) => version > lane.version)) outdated.add(lane)
  }

  return {
    lanes,
    /** Whether something was read of an endpoint that has changed: `update` must come before its calls. */
    isOutdated: () => outdated.size > 0,
    /** The endpoints of whose logs more may be read; it need not be until one of them has little left to send. */
    toRead,
    isReadDue: () => isReadUrgent && toRead.size > 0,
    toTake,
    /** The endpoints with outcomes to write, also of those that are gone. */
    toWrite,
    /** The deliveries in this worker's hands: rows that it took, and all that it called for and has not written. Endpoints may have rows that it does not know of. */
    known,
    inFlight: () => inFlight,
    /** Whether calls wait for their intent to be written. */
    isIntentDue: () => {
      for (const lane of toWrite) if (lane.read.length > 0) return true
      return false
    },
    /** Takes the endpoints to read now, and how much of each. */
    wantedOfLogs: (): ReadonlyMap<DeliveryLane, number> => {
      const wanted = take(toRead, (lane) => roomOf(lane, lane.waiting.length))
      isReadUrgent = toRead.size > 0
      return wanted
    },
    /** Takes the endpoints whose rows are to be taken now, and how many of each. */
    wantedOfRows: (): ReadonlyMap<DeliveryLane, number> =>
      take(toTake, (lane) => Math.ceil(roomOf(lane, lane.due.length) / 2)),
    look,
    remove,

    /** Lets no further call to an endpoint begin; returns what whoever has it next must know. */
    leave: (lane: DeliveryLane): GivenUp => {
      lane.isLeaving = true
      const { endpointId, reader, due } = lane
      return {
        endpointId,
        calling: [...reader.calling, ...reader.answered],
        unbegun: due.map(({ delivery }) => delivery.id),
      }
    },

    /** Tells of which enabled endpoints no version is known, or an earlier one. */
    changed: (owned: ReadonlyArray<OwnedEndpoint>): ReadonlyArray<OwnedEndpoint> =>
      owned.filter(({ endpointId, version, enabled }) => enabled && lanes.get(endpointId)?.version !== version),

    /**
     * Brings what is known of this worker's endpoints in line with the database; returns those that are lost, and those that were disabled.
     *
     * `secrets` are those of the organizations of all that are `changed`.
     */
    update: (
      owned: ReadonlyArray<OwnedEndpoint>,
      secrets: ReadonlyMap<OrganizationId, ReadonlyArray<SigningSecret>>,
    ) => {
      const known = new Map(owned.map((each) => [each.endpointId, each]))
      const lost = [...lanes.values()].filter(({ endpointId }) => !known.has(endpointId))
      const disabled: Array<DeliveryLane> = []
      for (const each of owned) {
        const lane = lanes.get(each.endpointId)
        const secretsOf = secrets.get(each.organizationId) ?? []
        if (lane === undefined) {
          if (!each.enabled) continue
          const opened = openLane(each, secretsOf, now())
          lanes.set(each.endpointId, opened)
          const others = byOrganization.get(each.organizationId)
          if (others === undefined) byOrganization.set(each.organizationId, new Set([opened]))
          else others.add(opened)
          look(opened)
        } else if (!each.enabled) disabled.push(lane)
        else {
          lane.isLeaving = false
          lane.inFlightElsewhere = each.inFlightElsewhere
          if (lane.version !== each.version) {
            const wasBusy = lane.calls.size > 0
            changeLane(lane, each, secretsOf, now())
            if (wasBusy && lane.calls.size === 0) busy--
            outdated.delete(lane)
          }
          look(lane)
        }
      }
      return { lost, disabled }
    },

    /** Notes that something was published, or is due, in an organization; or in any, when it is null. */
    heard: (topic: "events" | "due", organizationId: OrganizationId | null) => {
      const meant = organizationId === null ? lanes.values() : (byOrganization.get(organizationId) ?? [])
      for (const lane of meant) {
        if (topic === "events") lane.mayGoOn = true
        else lane.nextDueAt = Math.min(lane.nextDueAt, now())
        look(lane)
      }
    },

    /** Notes that the logs of these endpoints go on. */
    goesOn: (endpointIds: ReadonlyArray<EndpointId>) => {
      for (const lane of endpointIds.flatMap((id) => lanes.get(id) ?? [])) {
        lane.mayGoOn = true
        look(lane)
      }
    },

    /** Notes what was read for endpoints, of which so much was wanted. */
    wasRead: (wanted: ReadonlyMap<DeliveryLane, number>, deliveries: ReadonlyArray<Delivery>, readAt: number) => {
      const found = groupByEndpoint(deliveries)
      const at = now()
      for (const [lane, limit] of wanted) {
        if (lane.isGone) continue
        const read = found.get(lane.endpointId) ?? []
        noteVersions(lane, read)
        lane.read = read.map((delivery) => ({ delivery, readAt }))
        held += read.length
        lane.mayGoOn = read.length === limit
        if (read.length > 0) {
          lane.hotUntil = at + hotMs
          toWrite.add(lane)
        }
        lane.lookAt = at + lookAgainMs
        look(lane)
      }
    },

    /** Notes that the intent to call for what was read is written. */
    mayCall: (lane: DeliveryLane) => {
      lane.reader = afterRead(
        lane.reader,
        lane.read.map(({ delivery }) => delivery.eventId),
      )
      lane.waiting.push(...lane.read)
      lane.read = []
      look(lane)
    },

    /** Notes what was taken for endpoints, of which so much was wanted; returns those of which there is no more for now. */
    wasTaken: (wanted: ReadonlyMap<DeliveryLane, number>, deliveries: ReadonlyArray<Delivery>, readAt: number) => {
      const found = groupByEndpoint(deliveries)
      const exhausted: Array<DeliveryLane> = []
      for (const [lane, limit] of wanted) {
        if (lane.isGone) continue
        const taken = found.get(lane.endpointId) ?? []
        noteVersions(lane, taken)
        for (const { id } of taken) known.add(id)
        held += taken.length
        lane.due.push(...taken.map((delivery) => ({ delivery, readAt })))
        if (taken.length < limit) {
          lane.nextDueAt = Number.POSITIVE_INFINITY
          exhausted.push(lane)
        }
        look(lane)
      }
      return exhausted
    },

    /** Notes in how many milliseconds the next row of an endpoint is due. */
    dueIn: (endpointId: EndpointId, millis: number) => {
      const lane = lanes.get(endpointId)
      if (lane === undefined) return
      lane.nextDueAt = Math.min(lane.nextDueAt, now() + Math.max(0, millis))
      look(lane)
    },

    /** Lets the endpoints look that wait for this moment; returns when the next does. */
    wakeAt: (): number => {
      const at = now()
      let next = Number.POSITIVE_INFINITY
      for (const [lane, wakeUp] of wakeUps) {
        if (wakeUp > at) {
          next = Math.min(next, wakeUp)
          continue
        }
        wakeUps.delete(lane)
        if (at < lane.hotUntil) lane.mayGoOn = true
        look(lane)
      }
      for (const wakeUp of wakeUps.values()) next = Math.min(next, wakeUp)
      return next
    },

    /** Takes the next delivery whose call begins now. */
    begin: (): readonly [DeliveryLane, Held] | undefined => {
      if (inFlight >= maxInFlight) return undefined
      const next = turns.next(nextOf)
      if (next === undefined) return undefined
      const [lane, begun] = next
      known.add(begun.delivery.id)
      held--
      inFlight++
      if (lane.calls.size === 0) busy++
      lane.calls.add(begun)
      if (mustBeAlone(begun)) isOneAlone = lane.isAlone = true
      if (!begun.delivery.isRow) lane.reader = begin(lane.reader)
      look(lane)
      return next
    },

    /** Notes what came of a call; undefined when nothing is known of it. Returns whether there is an outcome to write. */
    ended: (lane: DeliveryLane, called: Held, outcome: AttemptResult | undefined): boolean => {
      inFlight--
      if (lane.calls.delete(called) && lane.calls.size === 0 && !lane.isGone) busy--
      if (mustBeAlone(called)) isOneAlone = lane.isAlone = false
      // A call that began before the endpoint changed says nothing of it as it is now.
      if (outcome?.version === lane.version) learn(lane, outcome)
      const { isRow, eventId } = called.delivery
      // Nothing was asked and nothing was sent: this was not an attempt.
      const isPutBack = outcome?.reason === "name_not_asked" && !lane.isLeaving && !lane.isGone
      if (isPutBack) {
        if (!isRow) lane.reader = putBack(lane.reader, eventId)
        ;(isRow ? lane.due : lane.waiting).unshift(called)
        held++
        lane.pausedUntil = now() + pauseMs
      } else if (outcome !== undefined) {
        if (!isRow) lane.reader = answer(lane.reader, eventId)
        lane.outcomes.push(outcome)
        toWrite.add(lane)
      }
      look(lane)
      return outcome !== undefined && !isPutBack
    },
  }
}

const groupByEndpoint = (deliveries: ReadonlyArray<Delivery>): ReadonlyMap<EndpointId, ReadonlyArray<Delivery>> => {
  const groups = new Map<EndpointId, Array<Delivery>>()
  for (const delivery of deliveries) {
    const group = groups.get(delivery.endpointId)
    if (group === undefined) groups.set(delivery.endpointId, [delivery])
    else group.push(delivery)
  }
  return groups
}
