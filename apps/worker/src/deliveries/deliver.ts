import type { Delivery } from "@outreach/domain/deliveries/Delivery"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import type { EndpointId } from "@outreach/domain/Identifier"
import { monotonicMs } from "@outreach/domain/monotonicMs"
import { isClockSkewed } from "@outreach/domain/restores/Restore"
import { Hints } from "@outreach/postgres/events/Hints"
import type { Schedule } from "@outreach/retry-policy"
import { Cause, type Config, Effect, Exit, FiberSet, Latch, Semaphore } from "effect"
import * as SecureRandom from "effect/crypto/SecureRandom"
import { logFailure, retryForever } from "../loops/retryForever.ts"
import type { WorkerConfig } from "../WorkerConfig.ts"
import { attemptDelivery } from "./attemptDelivery.ts"
import { createDeliveryScheduler, type Write } from "./DeliveryScheduler.ts"
import { deadLetterLog } from "./deadLetterLog.ts"
import { progressOf } from "./EndpointQueue.ts"
import { ownEndpoints } from "./ownEndpoints.ts"

type DeliverOptions = Config.Success<typeof WorkerConfig>["webhooks"] & {
  /** Default retry schedule of endpoints. */
  readonly schedule: Schedule
  readonly drainSeconds: number
}

/** Outcomes are written in batches of this size, or after this time. */
const WRITE_BATCH_SIZE = 64
const DEBOUNCE_MS = 40
const MAX_PAUSE_MS = 1000
const PROXY_WARNING_MS = 60_000
/** How long a statement whose reply was lost may still run, and the interval at which rows that it took are released. */
const LATE_STATEMENT_MS = 60_000
const RELEASE_EVERY_MS = 1000

/** Dies if this machine's clock or the database's is so wrong that partners would reject the signatures. */
const assertTimely = (deliveries: ReadonlyArray<Delivery>) =>
  Effect.clockWith((clock) =>
    deliveries.some(({ databaseAheadMs }) =>
      isClockSkewed(databaseAheadMs + monotonicMs(clock), clock.currentTimeMillisUnsafe()),
    )
      ? Effect.die(new Error("The clocks of the database and this machine differ by more than an hour."))
      : Effect.void,
  )

/**
 * Delivers webhooks of the endpoints that this worker owns, until interrupted.
 *
 * Then it releases them immediately, and waits up to `drainSeconds` for calls in flight.
 */
export const deliver = Effect.fnUntraced(function* (options: DeliverOptions) {
  const { schedule, drainSeconds, maxInFlight, perEndpoint, callSeconds, leaseSeconds } = options
  const leases = yield* DeliveryLeases
  const hints = yield* Hints
  const noteDeadLetter = yield* deadLetterLog
  const { attempt, count, note } = yield* attemptDelivery(schedule, noteDeadLetter)
  const worker = yield* SecureRandom.SecureRandom.use((random) => random.uuidV7())
  const calls = yield* FiberSet.make()
  const runCall = yield* FiberSet.runtime(calls)<never>()
  // Only one fiber at a time changes lease rows.
  const writing = yield* Semaphore.make(1)
  const wakeUp = yield* Latch.make()
  const now = () => performance.now()
  const scheduler = createDeliveryScheduler({ maxInFlight, perEndpoint, callMs: callSeconds * 1000, now })
  const endpoints = yield* ownEndpoints({
    worker,
    leaseSeconds,
    scheduler,
    writing,
    noteDeadLetter,
    now,
    isListening: hints.isListening,
  })
  /** Endpoints that may have rows under this worker's name that it doesn't know about, and until when further ones may be added. */
  const unsure = new Map<EndpointId, number>()
  let releaseAt = 0
  /** When unwritten outcomes may be written. */
  let writeAt = 0
  let proxyWarningAt = 0
  /** A failed write. The database may have committed it, so the same outcomes are written again before any others. */
  let unfinished: ReadonlyArray<Write> = []

  const isWriteDue = () =>
    unfinished.length > 0 ||
    scheduler.unwritten() >= WRITE_BATCH_SIZE ||
    (scheduler.unwritten() > 0 && now() >= writeAt)

  const beginCalls = () => {
    while (endpoints.isCurrent()) {
      const call = scheduler.begin()
      if (call === undefined) return
      const { queue, delivery } = call
      const { version } = queue.endpoint
      runCall(Effect.suspend(() => attempt(call, now()))).addObserver((exit) => {
        // However a call ends, its delivery and its slot are released.
        const outcome = Exit.isSuccess(exit) ? exit.value : { delivery, version, attempt: null, ...DEFECT }
        scheduler.ended(call, outcome)
        if (Exit.isSuccess(exit)) {
          count(exit.value)
          const { outcome, response } = exit.value.attempt
          if (outcome === "proxy_failed" && now() >= proxyWarningAt) {
            proxyWarningAt = now() + PROXY_WARNING_MS
            const warning = Effect.logWarning(
              "the forward proxy of WEBHOOK_PROXY_URL fails; calls are repeated until it works",
            )
            runCall(Effect.annotateLogs(warning, { reason: response }))
          }
        } else if (!Cause.hasInterruptsOnly(exit.cause)) {
          const { id: deliveryId, endpointId } = delivery
          runCall(
            Effect.annotateLogs(logFailure("webhook call failed with a defect, delivery will be retried", exit.cause), {
              deliveryId,
              endpointId,
            }),
          )
        }
        // The first outcome is written immediately, unless a write has just happened.
        if (scheduler.unwritten() === 1 || isWriteDue() || isReading()) wakeUp.openUnsafe()
        beginCalls()
      })
    }
  }

  const write = Effect.gen(function* () {
    if (unfinished.length === 0) unfinished = scheduler.takeWrites()
    const progress = unfinished.map(({ queue, outcomes }) => progressOf(queue, outcomes, now()))
    const { refused, again, disabled } = yield* leases.write(worker, progress)
    const written = unfinished
    unfinished = []
    writeAt = now() + DEBOUNCE_MS
    for (const each of written) {
      const { queue, outcomes } = each
      const { endpointId } = queue
      const isReleased = queue.ownership === "released"
      const isLost = refused.has(endpointId)
      scheduler.afterWrite(each, isLost)
      for (const outcome of outcomes) {
        const { id, isRow } = outcome.delivery
        const settled = again.has(id) ? { ...outcome, ...DUE_AGAIN } : outcome
        yield* note(settled, isRow || isReleased ? !refused.has(id) : !isLost)
        scheduler.known.delete(id)
        if (settled.settlement === "retry") scheduler.dueIn({ endpointId, inMs: settled.delay * 1000, isReplay: false })
      }
    }
    for (const endpointId of disabled) {
      yield* Effect.annotateLogs(Effect.logWarning("endpoint disabled after response 410"), { endpointId })
    }
  })

  const writeIfDue = Effect.suspend(() => (isWriteDue() ? write : Effect.void))

  const read = Effect.gen(function* () {
    const wanted = scheduler.wantedOfLogs()
    if (wanted.size === 0) return
    const reading = leases.read(worker, [...wanted.values()]).pipe(
      Effect.tap(assertTimely),
      Effect.tap((deliveries) =>
        Effect.sync(() => {
          scheduler.addRead(wanted, deliveries)
          beginCalls()
        }),
      ),
      Effect.onError(() => Effect.sync(() => scheduler.readAgain(wanted))),
    )
    // Calls start without waiting for the outcomes of earlier calls.
    yield* Effect.all([reading, writeIfDue], { concurrency: 2, discard: true })
  })

  /** Releases unknown rows, also of endpoints that were given up since then: the next owner can't take rows of a living worker. */
  const releaseUnknown = Effect.gen(function* () {
    yield* leases.releaseUnknown(worker, [...unsure.keys()], [...scheduler.known])
    releaseAt = now() + RELEASE_EVERY_MS
    for (const [endpointId, until] of unsure) {
      scheduler.dueIn({ endpointId, inMs: 0, isReplay: false })
      if (now() >= until) unsure.delete(endpointId)
    }
  })

  const takeDue = Effect.gen(function* () {
    const wanted = scheduler.wantedOfRows()
    if (wanted.size === 0) return
    const deliveries = yield* leases.takeDue(worker, [...wanted.values()]).pipe(
      Effect.tap(assertTimely),
      // Rows may have been taken even though the statement failed, or will be.
      Effect.onError(() =>
        Effect.sync(() => {
          releaseAt = 0
          for (const queue of wanted.keys()) {
            unsure.set(queue.endpointId, now() + LATE_STATEMENT_MS)
            scheduler.toTake.add(queue)
          }
        }),
      ),
    )
    const exhausted = scheduler.addTaken(wanted, deliveries)
    if (exhausted.length === 0) return
    for (const next of yield* leases.nextDue(worker, exhausted)) scheduler.dueIn(next)
  })

  const isReading = () => scheduler.isReadDue() || scheduler.toTake.size > 0

  const step = Effect.gen(function* () {
    wakeUp.closeUnsafe()
    scheduler.wake()
    // While the deliveries are read, because their calls need it.
    if ((isReading() || !scheduler.isIdle()) && !endpoints.isCurrent()) endpoints.requestView()
    yield* writing.withPermit(
      Effect.gen(function* () {
        if (endpoints.holdsLease()) {
          if (scheduler.isReadDue()) yield* read
          if (unsure.size > 0 && now() >= releaseAt) yield* releaseUnknown
          if (scheduler.toTake.size > 0) yield* takeDue
          // An event published after a change is sent with the changed endpoint.
          const outdated = [...scheduler.toRefresh].map(({ endpointId }) => endpointId)
          if (outdated.length > 0) yield* endpoints.refresh(outdated)
        }
        yield* writeIfDue
      }),
    )
    beginCalls()
    if (isWriteDue() || (isReading() && endpoints.holdsLease())) return
    const next = Math.min(scheduler.wakeAt(), scheduler.unwritten() > 0 ? writeAt : Number.POSITIVE_INFINITY)
    yield* Effect.timeoutOption(wakeUp.await, Math.max(1, Math.min(next - now(), MAX_PAUSE_MS)))
  })

  const hear = hints.listen(({ topic, organizationId }) =>
    Effect.sync(() => {
      if (topic === "events" || topic === "due") scheduler.notify(topic, organizationId)
      else if (topic === "endpoints") endpoints.endpointsChanged()
      else return
      wakeUp.openUnsafe()
    }),
  )

  const writeRest: Effect.Effect<void> = Effect.suspend(() =>
    unfinished.length > 0 || scheduler.unwritten() > 0 ? Effect.andThen(write, writeRest) : Effect.void,
  )
  const stop = Effect.gen(function* () {
    yield* endpoints.stop
    yield* FiberSet.awaitEmpty(calls).pipe(Effect.timeoutOption(drainSeconds * 1000))
    yield* writing.withPermit(writeRest)
    yield* endpoints.leave
  }).pipe(Effect.catchCause((cause) => logFailure("deliver shutdown failed", cause)))

  yield* Effect.forkScoped(retryForever("deliver", step))
  yield* Effect.forkScoped(hear)
  const beat = Effect.andThen(
    endpoints.beat,
    Effect.sync(() => wakeUp.openUnsafe()),
  )
  yield* Effect.forkScoped(retryForever("deliver: endpoints", Effect.andThen(beat, endpoints.rest)))
  return yield* Effect.onInterrupt(Effect.never, () => stop)
}, Effect.scoped)

/** New state of a delivery that was rejected or gone according to an earlier version of its endpoint. */
const DUE_AGAIN = { settlement: "retry", delay: 0 } as const

/** New state of a delivery whose call failed because of a defect: it is sent again after ten seconds. */
const DEFECT = { settlement: "retry", delay: 10 } as const
