import { type AttemptResult, monotonicMs } from "@outreach/domain/deliveries/Deliveries"
import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { EndpointReaders, type Progress } from "@outreach/domain/deliveries/EndpointReaders"
import { afterWrite, stillOpen } from "@outreach/domain/deliveries/logReader"
import type { EndpointId } from "@outreach/domain/Identifier"
import { areApart } from "@outreach/domain/restores/Restore"
import { Hints } from "@outreach/postgres/events/Hints"
import type { Schedule } from "@outreach/retry-policy"
import { Cause, Clock, Effect, Exit, FiberSet, Latch, Semaphore } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { logFailure, retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"
import { attemptDelivery } from "./attemptDelivery.ts"
import { deadLetterLog } from "./deadLetterLog.ts"
import type { DeliveryLane, Held } from "./deliveryLane.ts"
import { deliveryOwner } from "./deliveryOwner.ts"
import { ownEndpoints } from "./ownEndpoints.ts"

/** How webhooks are delivered. */
export interface DeliverOptions {
  readonly schedule: Schedule
  readonly drainSeconds: number
  /** Calls of this worker in flight: in all, and to one endpoint. */
  readonly maxInFlight: number
  readonly perEndpoint: number
  /** For how long this worker keeps its endpoints without saying that it lives. */
  readonly leaseSeconds: number
}

const limits = workerLimits.deliveries

/** Dies of deliveries whose signatures no partner would take, because this machine's clock or the database's is wrong. */
const assertTimely = (deliveries: ReadonlyArray<Delivery>) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    deliveries.some(({ readAt }) => areApart(readAt, now))
      ? Effect.die(new Error("The clocks of the database and of this machine are more than an hour apart."))
      : Effect.void,
  )

/**
 * Delivers webhooks to the endpoints that this worker comes to own, until interrupted.
 *
 * Then it gives them up at once, and has `drainSeconds` for the calls that are in flight.
 */
export const deliver = Effect.fnUntraced(function* (options: DeliverOptions) {
  const { schedule, drainSeconds, maxInFlight, perEndpoint, leaseSeconds } = options
  const readers = yield* EndpointReaders
  const hints = yield* Hints
  const clock = yield* Clock.Clock
  const noteDeadLetter = yield* deadLetterLog
  const { attempt, count, note } = yield* attemptDelivery(schedule, noteDeadLetter)
  const worker = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  const calls = yield* FiberSet.make()
  const runCall = yield* FiberSet.runtime(calls)<never>()
  // One at a time changes rows of readers.
  const writing = yield* Semaphore.make(1)
  const wakeUp = yield* Latch.make()
  const now = () => performance.now()
  const owner = deliveryOwner({ maxInFlight, perEndpoint, now })
  const endpoints = yield* ownEndpoints({ worker, leaseSeconds, owner, writing, noteDeadLetter, now })
  /** Endpoints that may have rows under this worker's name of which it does not know. */
  const unsure = new Set<EndpointId>()
  /** Outcomes that are not written, and when they may be. */
  let unwritten = 0
  let writeAt = 0

  const isWriteDue = () => unwritten > 0 && (unwritten >= limits.writeBatchSize || now() >= writeAt)

  const beginCalls = () => {
    while (endpoints.isCurrent()) {
      const next = owner.begin()
      if (next === undefined) return
      const [lane, held] = next
      runCall(attempt(lane, held, now())).addObserver((exit) => {
        if (Exit.isSuccess(exit)) {
          count(exit.value)
          if (owner.ended(lane, held, exit.value)) unwritten++
        } else {
          // Nobody waits any longer for what is cut short at the end.
          if (Cause.hasInterruptsOnly(exit.cause)) return
          runCall(logFailure("deliver failed at a call", exit.cause))
          owner.ended(lane, held, undefined)
        }
        // The first waits for no other unless one was written just now.
        if (unwritten === 1 || isWriteDue() || owner.isReadDue() || owner.toTake.size > 0) wakeUp.openUnsafe()
        beginCalls()
      })
    }
  }

  const write = Effect.gen(function* () {
    const written = [...owner.toWrite].map((lane) => {
      const { isBreakerNews, isGone } = lane
      lane.isBreakerNews = false
      return { lane, isGone, outcomes: lane.outcomes.splice(0), isBreakerNews }
    })
    owner.toWrite.clear()
    unwritten = 0
    const { refused, again } = yield* readers.write(worker, written.map(toProgress)).pipe(
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
    writeAt = now() + limits.debounceMs
    for (const { lane, isGone, outcomes } of written) {
      const isLost = refused.has(lane.endpointId)
      if (isLost) owner.remove(lane)
      else if (!lane.isGone) {
        lane.reader = afterWrite(
          lane.reader,
          outcomes.flatMap(({ delivery }) => (delivery.isRow ? [] : delivery.eventId)),
        )
        owner.mayCall(lane)
      }
      for (const called of outcomes) {
        const { isRow, id } = called.delivery
        const outcome = again.has(id) ? { ...called, settlement: DUE_AGAIN } : called
        yield* note(outcome, isRow || isGone ? !refused.has(id) : !isLost)
        owner.known.delete(id)
        const { settlement } = outcome
        if (settlement.state === "retry") owner.dueIn(lane.endpointId, settlement.delaySeconds * 1000)
      }
    }
  })

  const toProgress = ({ lane, isGone, outcomes, isBreakerNews }: Written): Progress => {
    const { version, breaker } = lane
    const { failures, allowance, probeAt } = breaker
    const isNews = lane.read.length > 0 || outcomes.some(({ delivery }) => !delivery.isRow)
    return {
      endpointId: lane.endpointId,
      open:
        isNews && !isGone
          ? [...stillOpen(lane.reader), ...lane.read.map(({ delivery }) => delivery.eventId)]
          : undefined,
      place: placeOf(lane.read.at(-1)),
      breaker:
        isBreakerNews && !isGone
          ? { version, failures, allowance, probeInMs: Math.max(0, probeAt - now()) }
          : undefined,
      // What was in flight when the endpoint was given up has a row by now.
      outcomes: isGone
        ? outcomes.map((outcome) => ({ ...outcome, delivery: { ...outcome.delivery, isRow: true } }))
        : outcomes,
    }
  }

  const read = Effect.gen(function* () {
    const wanted = owner.wantedOfLogs()
    if (wanted.size === 0) return
    const deliveries = yield* Effect.tap(readers.read(worker, toWanted(wanted)), assertTimely)
    owner.wasRead(wanted, deliveries, monotonicMs(clock))
  })

  const takeDue = Effect.gen(function* () {
    if (unsure.size > 0) {
      yield* readers.keepOnly(worker, [...unsure], [...owner.known])
      unsure.clear()
    }
    const wanted = owner.wantedOfRows()
    if (wanted.size === 0) return
    const deliveries = yield* readers.takeDue(worker, toWanted(wanted)).pipe(
      Effect.tap(assertTimely),
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
    const exhausted = owner.wasTaken(wanted, deliveries, monotonicMs(clock))
    if (exhausted.length === 0) return
    const next = yield* readers.nextDue(
      worker,
      exhausted.map(({ endpointId }) => endpointId),
    )
    for (const { endpointId, inMs } of next) owner.dueIn(endpointId, inMs)
  })

  const step = Effect.gen(function* () {
    wakeUp.closeUnsafe()
    const wakeAt = owner.wakeAt()
    yield* writing.withPermit(
      Effect.gen(function* () {
        if (endpoints.holdsLease()) {
          if (owner.isReadDue()) yield* read
          if (owner.toTake.size > 0) yield* takeDue
          // What was published after a change is called by what it has changed to.
          if (owner.isOutdated()) yield* endpoints.refresh
        }
        if (isWriteDue() || owner.isIntentDue()) yield* write
      }),
    )
    beginCalls()
    if (isWriteDue() || ((owner.isReadDue() || owner.toTake.size > 0) && endpoints.holdsLease())) return
    const next = Math.min(wakeAt, unwritten > 0 ? writeAt : Number.POSITIVE_INFINITY)
    yield* Effect.timeoutOption(wakeUp.await, Math.max(1, Math.min(next - now(), limits.maxPauseMs)))
  })

  const hear = hints.listen(({ topic, organizationId }) =>
    Effect.sync(() => {
      if (topic === "events" || topic === "due") owner.heard(topic, organizationId)
      else if (topic === "endpoints") endpoints.heardOfEndpoints()
      else return
      wakeUp.openUnsafe()
    }),
  )

  // A hint that was lost costs a second.
  const overhear = Effect.gen(function* () {
    yield* Effect.sleep(limits.overhearEveryMs)
    for (const organizationId of yield* readers.wrote(limits.overheardSeconds)) owner.heard("events", organizationId)
    wakeUp.openUnsafe()
  })

  const stop = Effect.gen(function* () {
    yield* endpoints.stop
    yield* FiberSet.awaitEmpty(calls).pipe(Effect.timeoutOption(drainSeconds * 1000))
    yield* writing.withPermit(Effect.suspend(() => (unwritten > 0 ? write : Effect.void)))
    yield* endpoints.leave
  }).pipe(Effect.catchCause((cause) => logFailure("deliver failed at its end", cause)))

  yield* Effect.forkScoped(retryForever("deliver", step))
  yield* Effect.forkScoped(hear)
  yield* Effect.forkScoped(retryForever("deliver: overhearing", overhear))
  const beat = Effect.andThen(
    endpoints.beat,
    Effect.sync(() => wakeUp.openUnsafe()),
  )
  yield* Effect.forkScoped(retryForever("deliver: endpoints", Effect.andThen(beat, endpoints.rest)))
  return yield* Effect.onInterrupt(Effect.never, () => stop)
}, Effect.scoped)

const toWanted = (wanted: ReadonlyMap<DeliveryLane, number>) =>
  [...wanted].map(([{ endpointId }, limit]) => ({ endpointId, limit }))

/** What becomes of a delivery that was rejected by what its endpoint was before it changed. */
const DUE_AGAIN = { state: "retry", delaySeconds: 0 } as const

/** What is written of an endpoint in one go. */
interface Written {
  readonly lane: DeliveryLane
  /** What was in flight when the endpoint was given up or lost has a row. */
  readonly isGone: boolean
  readonly outcomes: ReadonlyArray<AttemptResult>
  readonly isBreakerNews: boolean
}

const placeOf = (held: Held | undefined) =>
  held === undefined ? undefined : { emittedAt: held.delivery.emittedAt!, id: held.delivery.eventId }
