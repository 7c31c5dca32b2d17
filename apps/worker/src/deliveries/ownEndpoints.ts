import { EndpointReaders } from "@outreach/domain/deliveries/EndpointReaders"
import { Cause, Clock, Duration, Effect, Exit, Latch, Metric, Semaphore } from "effect"
import { metrics } from "../admin/metrics.ts"
import { workerLimits } from "../workerLimits.ts"
import type { deadLetterLog } from "./deadLetterLog.ts"
import type { DeliveryLane } from "./deliveryLane.ts"
import type { deliveryOwner } from "./deliveryOwner.ts"

const limits = workerLimits.deliveries

/**
 * Keeps a worker among the living, and its share of the endpoints its own.
 *
 * `beat` says that it lives, and takes and gives up endpoints; these are the worker's while `holdsLease`. Calls may begin while
 * `isCurrent`: what it knows of its endpoints was true less than two seconds ago. `writing` is held by whoever changes rows of
 * readers. `stop` gives all endpoints up at once; after `leave` the worker is not heard of again.
 */
export const ownEndpoints = Effect.fnUntraced(function* (options: {
  readonly worker: string
  readonly leaseSeconds: number
  readonly owner: ReturnType<typeof deliveryOwner>
  readonly writing: Semaphore.Semaphore
  readonly noteDeadLetter: Effect.Success<typeof deadLetterLog>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}) {
  const { worker, leaseSeconds, owner, writing, noteDeadLetter, now } = options
  const { lanes } = owner
  const readers = yield* EndpointReaders
  // Whoever has left must not say afterwards that it lives.
  const registering = yield* Semaphore.make(1)
  const beatNow = yield* Latch.make()
  let hasLeft = false
  let isStopping = false
  let leaseUntil = 0
  let currentUntil = 0
  let isNewsOfEndpoints = true
  /** The sum of all endpoints' versions at the last refresh. */
  let versionsKnown = -1
  let beats = 0

  const giveUp = Effect.fnUntraced(function* (given: ReadonlyArray<DeliveryLane>) {
    if (given.length === 0) return
    yield* readers.handOver(worker, given.map(owner.leave)).pipe(
      // It is not known whose they are, until it is looked.
      Effect.onError(() =>
        Effect.sync(() => {
          isNewsOfEndpoints = true
        }),
      ),
    )
    for (const lane of given) owner.remove(lane)
  })

  const refresh = Effect.gen(function* () {
    const owned = yield* readers.owned(worker)
    // Read after the versions: secrets that are newer than these have raised them again.
    const secrets = yield* readers.secrets([
      ...new Set(owner.changed(owned).map(({ organizationId }) => organizationId)),
    ])
    const { lost, disabled } = owner.update(owned, secrets)
    for (const lane of lost) owner.remove(lane)
    yield* giveUp(disabled)
  })

  const recover = Effect.gen(function* () {
    for (const { deliveryId, endpointId, poison } of yield* readers.recover(worker)) {
      yield* Metric.update(metrics.leasesLost, 1)
      if (poison) yield* noteDeadLetter("poison", { deliveryId, endpointId })
      else {
        yield* Effect.logWarning("delivery lease expired, outcome unknown").pipe(
          Effect.annotateLogs({ deliveryId, endpointId }),
        )
      }
      owner.dueIn(endpointId, 0)
    }
  })

  const toShare = Effect.fnUntraced(function* (share: number, at: number, versions: number) {
    let isChanged =
      isNewsOfEndpoints || at >= leaseUntil || versions !== versionsKnown || beats % limits.beatsPerRefresh === 0
    isNewsOfEndpoints = false
    // What others took meanwhile must be known before anything is begun.
    if (isChanged) yield* refresh
    versionsKnown = versions
    currentUntil = at + limits.currentMs
    if (lanes.size > share) yield* giveUp(idlestOf(lanes.values(), lanes.size - share))
    else if (lanes.size < share) {
      const { taken, takenOver } = yield* readers.take(worker, share - lanes.size)
      yield* Metric.update(metrics.takeovers, takenOver)
      if (taken > 0) yield* refresh
      isChanged ||= taken > 0
    }
    if (isChanged || beats % limits.beatsPerRecovery === 0) yield* recover
    if (beats % limits.beatsPerSweep === 0) {
      owner.goesOn(yield* readers.behind(worker))
      for (const { endpointId, inMs } of yield* readers.nextDue(worker)) owner.dueIn(endpointId, inMs)
    }
    yield* Metric.update(metrics.endpointsOwned, lanes.size)
  })

  return {
    holdsLease: () => !isStopping && now() < leaseUntil,
    isCurrent: () => !isStopping && now() < Math.min(leaseUntil, currentUntil),
    refresh,

    beat: Effect.gen(function* () {
      beatNow.closeUnsafe()
      const at = now()
      const standing = yield* registering.withPermit(
        Effect.suspend(() => (hasLeft ? Effect.void : measureClaim(readers.live(worker, leaseSeconds)))),
      )
      if (standing === undefined) return
      const { rank, workers, endpoints, versions } = standing
      const share = Math.floor(endpoints / workers) + (rank < endpoints % workers ? 1 : 0)
      yield* writing.withPermit(Effect.suspend(() => (isStopping ? Effect.void : toShare(share, at, versions))))
      leaseUntil = at + leaseSeconds * 1000
      beats++
    }),

    /** Waits until the next beat is due. */
    rest: Effect.timeoutOption(
      Effect.suspend(() => beatNow.await),
      Math.min(limits.beatEveryMs, leaseSeconds * 250),
    ),

    /** Notes that endpoints have changed, or changed hands. */
    heardOfEndpoints: () => {
      isNewsOfEndpoints = true
      beatNow.openUnsafe()
    },

    stop: Effect.gen(function* () {
      isStopping = true
      yield* readers.stop(worker)
      yield* writing.withPermit(Effect.suspend(() => giveUp([...lanes.values()])))
    }),

    leave: registering.withPermit(
      Effect.suspend(() => {
        hasLeft = true
        return readers.leave(worker)
      }),
    ),
  }
})

/** Chooses the endpoints to which the least is in flight. */
const idlestOf = (lanes: Iterable<DeliveryLane>, count: number): ReadonlyArray<DeliveryLane> =>
  [...lanes].toSorted((a, b) => a.calls.size + a.waiting.length - (b.calls.size + b.waiting.length)).slice(0, count)

/** Counts and times a claim, and notes when one last succeeded or failed; one that is interrupted did neither. */
const measureClaim = <A, E, R>(claim: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const [took, exit] = yield* Effect.timed(Effect.exit(claim))
    if (Exit.isSuccess(exit) || !Cause.hasInterruptsOnly(exit.cause)) {
      const result = Exit.isSuccess(exit) ? "succeeded" : "failed"
      yield* Metric.update(metrics.claims[result], 1)
      yield* Metric.update(metrics.claimDuration, Duration.toSeconds(took))
      yield* Metric.update(metrics.lastClaim[result], (yield* Clock.currentTimeMillis) / 1000)
    }
    return yield* exit
  })
