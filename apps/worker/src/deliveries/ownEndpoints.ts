import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { hasEnded, thisProcess } from "@outreach/process/thisProcess"
import { Cause, Clock, Duration, Effect, Exit, Latch, Metric, Semaphore } from "effect"
import { metrics } from "../metrics.ts"
import { CURRENT_MS, type DeliveryScheduler } from "./DeliveryScheduler.ts"
import type { deadLetterLog } from "./deadLetterLog.ts"
import type { EndpointQueue } from "./EndpointQueue.ts"

/** Twice within `CURRENT_MS`. This is also the delay caused by a lost notification while this worker doesn't listen. */
const BEAT_EVERY_MS = 1000
/** The same without deliveries to call: the delay caused by a lost notification is `BEATS_PER_SWEEP` of them. */
const QUIET_BEAT_EVERY_MS = 2500
/** Minimum, so that one or two failures don't matter. */
const BEATS_PER_LEASE = 4
const BEATS_PER_SWEEP = 4
/** Beats between full reads of the logs of all endpoints. */
const BEATS_PER_FULL_READ = 300
const BEATS_PER_RECOVERY = 2

/**
 * Registers a worker and maintains its share of the endpoints.
 *
 * `beat` renews the registration, and takes and releases endpoints. They belong to the worker while `holdsLease`. Calls may start while
 * `isCurrent`: its view of the endpoints is less than two seconds old. While no deliveries wait, most beats don't renew the view, because it scans
 * all endpoints; `requestView` asks for a beat that does. `writing` is held by the fiber that changes lease
 * rows. `stop` releases all endpoints immediately; after `leave`, the worker is unregistered.
 */
export const ownEndpoints = Effect.fnUntraced(function* (options: {
  readonly worker: string
  readonly leaseSeconds: number
  readonly scheduler: DeliveryScheduler
  readonly writing: Semaphore.Semaphore
  readonly noteDeadLetter: Effect.Success<typeof deadLetterLog>
  /** Monotonic clock in milliseconds. */
  readonly now: () => number
  readonly isListening: () => boolean
}) {
  const { worker, leaseSeconds, scheduler, writing, noteDeadLetter, now, isListening } = options
  const { queues } = scheduler
  const leases = yield* DeliveryLeases
  // A worker that has left must not register again.
  const registering = yield* Semaphore.make(1)
  const beatNow = yield* Latch.make()
  let state: "running" | "stopping" | "left" = "running"
  let isEntered = false
  let leaseUntil = 0
  let currentUntil = 0
  /** Whether endpoints changed owner. */
  let hasChanges = true
  /** Whether the ownership of endpoints is unknown. */
  let mayHaveMissed = false
  /** Whether the next beat must renew the view. */
  let isViewRequested = false
  /** Snapshot of the last beat that renewed the view; undefined if a beat failed. */
  let snapshot: string | undefined
  /** Number of endpoints of all workers. */
  let shared = 0
  /** Latest stamp of each organization with new events. */
  const stamps = new Map<OrganizationId, string>()
  let beats = 0

  const isQuiet = () => scheduler.isIdle() && isListening()

  const enter = Effect.suspend(() => (isEntered ? Effect.void : leases.enter(worker, thisProcess, hasEnded))).pipe(
    Effect.tap(() =>
      Effect.sync(() => {
        isEntered = true
      }),
    ),
  )

  const giveUp = Effect.fnUntraced(function* (given: ReadonlyArray<EndpointQueue>) {
    if (given.length === 0) return
    yield* leases.handOver(worker, given.map(scheduler.leave)).pipe(
      // The ownership is unknown until the next refresh.
      Effect.onError(() =>
        Effect.sync(() => {
          mayHaveMissed = true
        }),
      ),
    )
    for (const queue of given) scheduler.remove(queue)
  })

  /** Refreshes all endpoints of this worker, or some. */
  const refresh = Effect.fnUntraced(function* (checked?: ReadonlyArray<EndpointId>) {
    const owned = yield* leases.listOwned(worker, checked)
    // Read after the versions: newer secrets have raised the versions again.
    const secrets = yield* leases.secrets(scheduler.changed(owned))
    const { lost, disabled } = scheduler.update(owned, secrets, checked)
    for (const queue of lost) scheduler.remove(queue)
    yield* giveUp(disabled)
  })

  const recover = Effect.gen(function* () {
    for (const { deliveryId, endpointId, poison } of yield* leases.recoverLost(worker)) {
      yield* Metric.update(metrics.leasesLost, 1)
      if (poison) yield* noteDeadLetter("poison", { deliveryId, endpointId })
      else {
        yield* Effect.logWarning("delivery lease expired, outcome unknown").pipe(
          Effect.annotateLogs({ deliveryId, endpointId }),
        )
      }
      scheduler.noteLostWorker(endpointId)
    }
  })

  const toShare = Effect.fnUntraced(function* (
    share: number,
    viewedAt: number | undefined,
    changed: ReadonlyArray<EndpointId> | undefined,
  ) {
    const checked = changed && [...new Set([...changed, ...scheduler.calledElsewhere()])]
    let isChanged = hasChanges || checked === undefined || checked.length > 0
    hasChanges = false
    // Takeovers by other workers must be known before a call starts.
    if (checked === undefined || checked.length > 0) yield* refresh(checked)
    if (checked === undefined) mayHaveMissed = false
    // No notification named the writers since the last beat; or a periodic full read, in case a log wasn't read to its end for an unforeseen reason.
    if (checked === undefined || beats % BEATS_PER_FULL_READ === 0) scheduler.notify("events", null)
    if (viewedAt !== undefined) currentUntil = viewedAt + CURRENT_MS
    if (queues.size > share) {
      const loadOf = (queue: EndpointQueue) => scheduler.callsTo(queue) + queue.log.waiting.length
      const idlestFirst = [...queues.values()].toSorted((a, b) => loadOf(a) - loadOf(b))
      yield* giveUp(idlestFirst.slice(0, queues.size - share))
    } else if (queues.size < share) {
      const { taken, takenOver } = yield* leases.acquire(worker, share - queues.size)
      yield* Metric.update(metrics.takeovers, takenOver)
      if (taken > 0) yield* refresh()
      isChanged ||= taken > 0
    }
    if (isChanged || (viewedAt !== undefined && beats % BEATS_PER_RECOVERY === 0)) yield* recover
    if (beats % BEATS_PER_SWEEP === 0) {
      for (const next of yield* leases.nextDue(worker)) scheduler.dueIn(next)
    }
    yield* Metric.update(metrics.endpointsOwned, queues.size)
  })

  return {
    holdsLease: () => state === "running" && now() < leaseUntil,
    isCurrent: () => state === "running" && now() < Math.min(leaseUntil, currentUntil),
    refresh,

    beat: Effect.gen(function* () {
      beatNow.closeUnsafe()
      const at = now()
      const since = at < leaseUntil ? snapshot : undefined
      const keepsView = since !== undefined && isQuiet() && !isViewRequested && beats % BEATS_PER_SWEEP !== 0
      isViewRequested = false
      snapshot = undefined
      const registration = yield* registering.withPermit(
        Effect.suspend(() =>
          state === "left"
            ? Effect.undefined
            : Effect.andThen(enter, measureClaim(leases.heartbeat(worker, leaseSeconds, keepsView ? null : since))),
        ),
      )
      if (registration === undefined) return
      const { rank, workers, endpoints, written } = registration
      shared = endpoints ?? shared
      for (const { organizationId, last } of written) {
        if (stamps.get(organizationId) !== last) scheduler.notify("events", organizationId)
        stamps.set(organizationId, last)
      }
      const share = Math.floor(shared / workers) + (rank < shared % workers ? 1 : 0)
      const follow = Effect.suspend(() => {
        if (state !== "running") return Effect.void
        return toShare(
          share,
          keepsView ? undefined : at,
          since === undefined || mayHaveMissed ? undefined : registration.changed.filter((id) => queues.has(id)),
        )
      })
      yield* writing.withPermit(follow)
      leaseUntil = at + leaseSeconds * 1000
      snapshot = keepsView ? since : registration.snapshot
      beats++
    }),

    /** Waits until the next beat is due. */
    rest: Effect.suspend(() =>
      Effect.timeoutOption(
        beatNow.await,
        Math.min(isQuiet() ? QUIET_BEAT_EVERY_MS : BEAT_EVERY_MS, (leaseSeconds * 1000) / BEATS_PER_LEASE),
      ),
    ),

    /** Requests a view for calls that can't start without one. */
    requestView: () => {
      if (state !== "running") return
      isViewRequested = true
      beatNow.openUnsafe()
    },

    /** Notes that endpoints or their owners changed. */
    endpointsChanged: () => {
      hasChanges = true
      isViewRequested = true
      beatNow.openUnsafe()
    },

    stop: Effect.gen(function* () {
      state = "stopping"
      yield* leases.stop(worker)
      yield* writing.withPermit(Effect.suspend(() => giveUp([...queues.values()])))
    }),

    leave: registering.withPermit(
      Effect.suspend(() => {
        state = "left"
        return leases.leave(worker)
      }),
    ),
  }
})

/** Counts and times a claim, and records the time of the last success or failure. Interrupted claims count as neither. */
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
