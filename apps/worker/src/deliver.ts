import type { Attempted } from "@outreach/domain/deliveries/Deliveries"
import { EndpointReaders, type Progress } from "@outreach/domain/deliveries/EndpointReaders"
import { afterWrite, stillOpen } from "@outreach/domain/deliveries/logReader"
import type { DeliveryId, EndpointId } from "@outreach/domain/Identifier"
import { Hints } from "@outreach/postgres/Hints"
import type { Schedule } from "@outreach/retry-policy"
import { Clock, Effect, FiberSet, Latch, Metric, Semaphore } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { attemptDelivery, noteOutcome } from "./attemptDelivery.ts"
import type { DeliveryLane, Held } from "./deliveryLane.ts"
import { deliveryOwner } from "./deliveryOwner.ts"
import { logFailure } from "./logFailure.ts"
import { measureClaim } from "./measureClaim.ts"
import { gauges, metrics } from "./metrics.ts"
import { persist } from "./persist.ts"
import { workerLimits } from "./workerLimits.ts"

/** How webhooks are delivered. */
export interface DeliverOptions {
  readonly schedule: Schedule
  readonly drainSeconds: number
  /** Calls of this worker in flight: in all, and to one endpoint. */
  readonly inAll: number
  readonly perEndpoint: number
  /** For how long this worker keeps its endpoints without saying that it lives. */
  readonly leaseSeconds: number
}

const limits = workerLimits.deliveries

/**
 * Delivers webhooks to the endpoints that this worker comes to own, until interrupted.
 *
 * Then it gives them up at once, and has `drainSeconds` for the calls that are in flight.
 */
export const deliver = Effect.fnUntraced(function* (options: DeliverOptions) {
  const { schedule, drainSeconds, inAll, perEndpoint, leaseSeconds } = options
  const readers = yield* EndpointReaders
  const hints = yield* Hints
  const clock = yield* Clock.Clock
  const attempt = yield* attemptDelivery(schedule)
  const worker = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  const calls = yield* FiberSet.make()
  const runCall = yield* FiberSet.runtime(calls)<never>()
  // One at a time changes rows of readers.
  const alone = yield* Semaphore.make(1)
  // Whoever has left must not say afterwards that it lives.
  const registering = yield* Semaphore.make(1)
  let hasLeft = false
  const stirred = yield* Latch.make()
  const beatNow = yield* Latch.make()
  const now = () => performance.now()
  const owner = deliveryOwner({ inAll, perEndpoint, now })
  let leaseUntil = 0
  let isStopping = false
  let isNewsOfEndpoints = true
  /** The deliveries in this worker's hands: rows that it took, and all that it called for. Endpoints may have rows that it does not know of. */
  const known = new Set<DeliveryId>()
  const unsure = new Set<EndpointId>()
  /** Outcomes that are not written, and when they may be. */
  let unwritten = 0
  let writeAt = 0

  const isWriteDue = () => unwritten > 0 && (unwritten >= limits.writtenTogether || now() >= writeAt)

  const beginCalls = () => {
    while (!isStopping && now() < leaseUntil) {
      const next = owner.begin()
      if (next === undefined) return
      const [lane, held] = next
      known.add(held.delivery.id)
      const end = (outcome?: Parameters<typeof owner.ended>[2]) => {
        owner.ended(lane, held, outcome)
        if (outcome !== undefined) unwritten++
        // The first waits for no other unless one was written just now.
        if (unwritten === 1 || isWriteDue() || owner.toRead.size > 0 || owner.toTake.size > 0) stirred.openUnsafe()
        beginCalls()
      }
      runCall(
        Effect.matchCauseEffect(attempt(held), {
          onSuccess: (outcome) => Effect.sync(() => end(outcome)),
          onFailure: (cause) =>
            Effect.andThen(
              logFailure("deliver failed at a call", cause),
              Effect.sync(() => end()),
            ),
        }),
      )
    }
  }

  const write = Effect.gen(function* () {
    const written = [...owner.toWrite].map((lane) => {
      const { isBreakerNews } = lane
      lane.isBreakerNews = false
      return { lane, outcomes: lane.outcomes.splice(0), isBreakerNews }
    })
    owner.toWrite.clear()
    unwritten = 0
    const refused = yield* readers.write(worker, written.map(toProgress)).pipe(
      // It is not known what the database has of it, and it may be written twice.
      Effect.onError(() =>
        Effect.sync(() => {
          for (const { lane, outcomes, isBreakerNews } of written) {
            lane.outcomes.unshift(...outcomes)
            lane.isBreakerNews ||= isBreakerNews
            owner.toWrite.add(lane)
            unwritten += outcomes.length
          }
        }),
      ),
    )
    writeAt = now() + limits.gatherMs
    for (const { lane, outcomes } of written) {
      const isLost = refused.has(lane.endpointId)
      if (isLost) owner.remove(lane)
      else if (!lane.isGone) {
        lane.reader = afterWrite(
          lane.reader,
          outcomes.flatMap(({ delivery }) => (delivery.isRow ? [] : delivery.eventId)),
        )
        owner.mayCall(lane)
      }
      for (const outcome of outcomes) {
        const { isRow, id } = outcome.delivery
        yield* noteOutcome(outcome, isRow || lane.isGone ? !refused.has(id) : !isLost)
        known.delete(id)
        const { settlement } = outcome
        if (settlement.state === "retry") owner.dueIn(lane.endpointId, settlement.delaySeconds * 1000)
      }
    }
  })

  const toProgress = ({ lane, outcomes, isBreakerNews }: Written): Progress => {
    const { failures, allowance, probeAt } = lane.breaker
    const isNews = lane.read.length > 0 || outcomes.some(({ delivery }) => !delivery.isRow)
    return {
      endpointId: lane.endpointId,
      open:
        isNews && !lane.isGone
          ? [...stillOpen(lane.reader), ...lane.read.map(({ delivery }) => delivery.eventId)]
          : undefined,
      place: placeOf(lane.read.at(-1)),
      breaker:
        isBreakerNews && !lane.isGone ? { failures, allowance, probeInMs: Math.max(0, probeAt - now()) } : undefined,
      // What was in flight when the endpoint was given up has a row by now.
      outcomes: lane.isGone
        ? outcomes.map((outcome) => ({ ...outcome, delivery: { ...outcome.delivery, isRow: true } }))
        : outcomes,
    }
  }

  const read = Effect.gen(function* () {
    const wanted = new Map<DeliveryLane, number>()
    for (const lane of owner.toRead) {
      owner.toRead.delete(lane)
      const room = owner.roomOf(lane, lane.waiting.length)
      if (room > 0) wanted.set(lane, room)
      if (wanted.size === limits.endpointsTogether) break
    }
    if (wanted.size === 0) return
    const deliveries = yield* readers.read(worker, toWanted(wanted))
    owner.wasRead(wanted, deliveries, clock.currentTimeMillisUnsafe())
  })

  const takeDue = Effect.gen(function* () {
    if (unsure.size > 0) {
      yield* readers.keepOnly(worker, [...unsure], [...known])
      unsure.clear()
    }
    const wanted = new Map<DeliveryLane, number>()
    for (const lane of owner.toTake) {
      owner.toTake.delete(lane)
      const room = Math.ceil(owner.roomOf(lane, lane.due.length) / 2)
      if (room > 0) wanted.set(lane, room)
      if (wanted.size === limits.endpointsTogether) break
    }
    if (wanted.size === 0) return
    const deliveries = yield* readers.takeDue(worker, toWanted(wanted)).pipe(
      // Rows may have been taken all the same.
      Effect.onError(() =>
        Effect.sync(() => {
          for (const lane of wanted.keys()) {
            unsure.add(lane.endpointId)
            owner.toTake.add(lane)
          }
        }),
      ),
    )
    for (const { id } of deliveries) known.add(id)
    const exhausted = owner.wasTaken(wanted, deliveries, clock.currentTimeMillisUnsafe())
    if (exhausted.length === 0) return
    const next = yield* readers.nextDue(
      worker,
      exhausted.map(({ endpointId }) => endpointId),
    )
    for (const { endpointId, inMs } of next) owner.dueIn(endpointId, inMs)
  })

  const holdsLease = Effect.sync(() => !isStopping && now() < leaseUntil)
  const step = Effect.gen(function* () {
    stirred.closeUnsafe()
    const wakeAt = owner.wakeAt()
    yield* alone.withPermit(
      Effect.gen(function* () {
        if (yield* holdsLease) {
          if (owner.toRead.size > 0) yield* read
          if (owner.toTake.size > 0) yield* takeDue
        }
        if (isWriteDue() || owner.isIntentDue()) yield* write
      }),
    )
    beginCalls()
    if (isWriteDue() || ((owner.toRead.size > 0 || owner.toTake.size > 0) && (yield* holdsLease))) return
    const next = Math.min(wakeAt, unwritten > 0 ? writeAt : Number.POSITIVE_INFINITY)
    yield* Effect.timeoutOption(stirred.await, Math.max(1, Math.min(next - now(), limits.longestPauseMs)))
  })

  const giveUp = Effect.fnUntraced(function* (lanes: ReadonlyArray<DeliveryLane>) {
    if (lanes.length === 0) return
    // Whoever has the endpoint next may begin what is not said to be in flight.
    for (const lane of lanes) lane.isLeaving = true
    const given = lanes.map(({ endpointId, reader, due }) => ({
      endpointId,
      calling: [...reader.calling, ...reader.answered],
      unbegun: due.map(({ delivery }) => delivery.id),
    }))
    yield* readers.handOver(worker, given).pipe(
      // It is not known whose they are, until it is looked.
      Effect.onError(() =>
        Effect.sync(() => {
          isNewsOfEndpoints = true
        }),
      ),
    )
    for (const { unbegun } of given) for (const id of unbegun) known.delete(id)
    for (const lane of lanes) owner.remove(lane)
  })

  const refresh = Effect.gen(function* () {
    const { lost, disabled } = owner.update(yield* readers.owned(worker))
    for (const lane of lost) owner.remove(lane)
    yield* giveUp(disabled)
  })

  const recover = Effect.gen(function* () {
    for (const { deliveryId, endpointId, poison } of yield* readers.recover(worker)) {
      yield* Metric.update(metrics.leasesLost, 1)
      if (poison) yield* Metric.update(metrics.deadLetters.poison, 1)
      yield* Effect.logWarning(
        poison ? "delivery dead-lettered" : "a worker was lost without a word of what came of a delivery's attempt",
      ).pipe(Effect.annotateLogs({ deliveryId, endpointId, ...(poison && { state: "poison" }) }))
      owner.dueIn(endpointId, 0)
    }
  })

  let beats = 0
  const beat = Effect.gen(function* () {
    beatNow.closeUnsafe()
    const at = now()
    const hadLapsed = at >= leaseUntil
    const standing = yield* registering.withPermit(
      Effect.suspend(() => (hasLeft ? Effect.void : measureClaim(readers.live(worker, leaseSeconds)))),
    )
    if (standing === undefined) return
    const { rank, workers, endpoints } = standing
    yield* alone.withPermit(
      Effect.gen(function* () {
        if (isStopping) return
        const share = Math.floor(endpoints / workers) + (rank < endpoints % workers ? 1 : 0)
        const { lanes } = owner
        let isChanged = isNewsOfEndpoints || hadLapsed || beats % limits.beatsPerRefresh === 0
        isNewsOfEndpoints = false
        // What others took meanwhile must be known before anything is begun.
        if (isChanged) yield* refresh
        if (lanes.size > share) yield* giveUp(idlestOf(lanes.values(), lanes.size - share))
        else if (lanes.size < share) {
          const { taken, takenOver } = yield* readers.take(worker, share - lanes.size)
          yield* Metric.update(metrics.takeovers, takenOver)
          if (taken > 0) yield* refresh
          isChanged ||= taken > 0
        }
        if (isChanged || beats % limits.beatsPerRecovery === 0) yield* recover
        if (beats % limits.beatsPerSweep === 0) {
          for (const endpointId of yield* readers.behind(worker)) {
            const lane = lanes.get(endpointId)
            if (lane === undefined) continue
            lane.mayGoOn = true
            owner.look(lane)
          }
          for (const { endpointId, inMs } of yield* readers.nextDue(worker)) owner.dueIn(endpointId, inMs)
        }
        yield* Metric.update(gauges.endpointsOwned, lanes.size)
      }),
    )
    leaseUntil = at + leaseSeconds * 1000
    beats++
    stirred.openUnsafe()
  })

  const hear = hints.listen(({ topic, organizationId }) =>
    Effect.sync(() => {
      if (topic === "events" || topic === "due") owner.heard(topic, organizationId)
      else if (topic === "endpoints") {
        isNewsOfEndpoints = true
        beatNow.openUnsafe()
      } else return
      stirred.openUnsafe()
    }),
  )

  // A hint that was lost costs a second.
  const overhear = Effect.gen(function* () {
    yield* Effect.sleep(limits.overhearEveryMs)
    for (const organizationId of yield* readers.wrote(limits.overheardSeconds)) owner.heard("events", organizationId)
    stirred.openUnsafe()
  })

  const stop = Effect.gen(function* () {
    isStopping = true
    yield* readers.stop(worker)
    yield* alone.withPermit(Effect.suspend(() => giveUp([...owner.lanes.values()])))
    yield* FiberSet.awaitEmpty(calls).pipe(Effect.timeoutOption(drainSeconds * 1000))
    yield* alone.withPermit(Effect.suspend(() => (unwritten > 0 ? write : Effect.void)))
    yield* registering.withPermit(
      Effect.suspend(() => {
        hasLeft = true
        return readers.leave(worker)
      }),
    )
  }).pipe(Effect.catchCause((cause) => logFailure("deliver failed at its end", cause)))

  yield* Effect.forkScoped(persist("deliver", step))
  yield* Effect.forkScoped(hear)
  yield* Effect.forkScoped(persist("deliver: overhearing", overhear))
  yield* Effect.forkScoped(
    persist(
      "deliver: endpoints",
      Effect.andThen(beat, Effect.timeoutOption(beatNow.await, Math.min(limits.beatEveryMs, leaseSeconds * 250))),
    ),
  )
  return yield* Effect.onInterrupt(Effect.never, () => stop)
}, Effect.scoped)

const toWanted = (wanted: ReadonlyMap<DeliveryLane, number>) =>
  [...wanted].map(([{ endpointId }, most]) => ({ endpointId, most }))

/** What is written of an endpoint in one go. */
interface Written {
  readonly lane: DeliveryLane
  readonly outcomes: ReadonlyArray<Attempted>
  readonly isBreakerNews: boolean
}

const placeOf = (held: Held | undefined) =>
  held === undefined ? undefined : { emittedAt: held.delivery.emittedAt!, id: held.delivery.eventId }

/** Chooses the endpoints to which the least is in flight. */
const idlestOf = (lanes: Iterable<DeliveryLane>, count: number): ReadonlyArray<DeliveryLane> =>
  [...lanes].toSorted((a, b) => a.inFlight + a.waiting.length - (b.inFlight + b.waiting.length)).slice(0, count)
