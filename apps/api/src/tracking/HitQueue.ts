import { type Hit, HitRepository } from "@outreach/domain/hits/Hits"
import { transientFailure } from "@outreach/postgres/DatabaseFailure"
import { DatabaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { describeCause } from "@outreach/process/describeCause"
import { type Cause, Clock, Context, Duration, Effect, Fiber, Layer, Metric, Queue } from "effect"
import { metrics } from "../http/apiMetrics.ts"

/** Maximum number of hits in memory, at most 3 KB each. Further hits are lost, which requires an outage of minutes. */
const MAX_WAITING = 20_000
const STORE_BATCH_SIZE = 1000
/** Time for storing the remaining hits when the process stops. */
const FLUSH = Duration.seconds(10)
/** Wait after consecutive failures in milliseconds, doubling from first to last. */
const BACKOFF = { first: 100, last: 5000 } as const

interface Waiting extends Hit {
  readonly cameAt: number
}

/** Stores hits after their response was sent, so that following a link doesn't wait for the database. */
export class HitQueue extends Context.Service<HitQueue>()("api/tracking/HitQueue", {
  make: Effect.gen(function* () {
    const repository = yield* HitRepository
    const monitor = yield* DatabaseMonitor
    const queue = yield* Queue.dropping<Waiting, Cause.Done>(MAX_WAITING)
    let lost = 0
    let underWay = 0

    const showLength = Effect.suspend(() => Metric.update(metrics.hitsQueued, Queue.sizeUnsafe(queue) + underWay))

    const store = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>): Effect.fn.Return<void> {
      for (let wait: number = BACKOFF.first; ; wait = Math.min(2 * wait, BACKOFF.last)) {
        const seen = monitor.recoveries.count
        const exit = yield* Effect.exit(Effect.suspend(() => repository.record(batch)))
        if (exit._tag === "Success") return
        if (!(yield* monitor.covers(exit.cause))) {
          yield* Effect.logError("hits could not be stored").pipe(
            Effect.annotateLogs({ count: batch.length, errors: describeCause(exit.cause) }),
          )
        }
        if (transientFailure(exit.cause) === undefined) {
          // A hit that the database rejects must not block the others.
          return batch.length === 1 ? undefined : yield* Effect.forEach(batch, (one) => store([one]), { discard: true })
        }
        yield* Effect.raceFirst(Effect.sleep(wait), monitor.recoveries.after(seen))
      }
    })

    const storeNext = Effect.gen(function* () {
      const batch = yield* Queue.takeBetween(queue, 1, STORE_BATCH_SIZE)
      underWay = batch.length
      yield* showLength
      yield* store(batch)
      underWay = 0
      yield* showLength
    })
    const storing = yield* Effect.forkScoped(Effect.forever(storeNext))
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* Queue.end(queue)
        yield* Effect.timeoutOption(Fiber.await(storing), FLUSH)
        lost += Queue.sizeUnsafe(queue) + underWay
        if (lost > 0) yield* Effect.logError("hits were lost").pipe(Effect.annotateLogs({ lost }))
      }),
    )

    return {
      /** Queues a hit for storage. */
      offer: Effect.fnUntraced(function* (hit: Hit) {
        if (Queue.offerUnsafe(queue, { ...hit, cameAt: yield* Clock.currentTimeMillis })) return yield* showLength
        yield* Metric.update(metrics.hitsDropped, 1)
        if (lost++ % MAX_WAITING === 0) yield* Effect.logError("hit queue full, dropping hits")
      }),
    }
  }),
}) {
  static readonly layer = Layer.effect(HitQueue, HitQueue.make)
}
