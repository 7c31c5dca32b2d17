import type { OrganizationId } from "@outreach/domain/Identifier"
import { TodayReader } from "@outreach/postgres/today/TodayReader"
import { Cause, Clock, Context, Deferred, Effect, Layer, PubSub, RcMap, Stream } from "effect"
import { liveTexts } from "../pages/today/todayTiles.ts"

const READ_EVERY = "2 seconds"

/** More than operators have open at once; each holds a connection. */
export const MAX_VIEWERS = 200

/** The texts of a page that are renewed, by their names. */
export type LiveTexts = Readonly<Record<string, string>>

/**
 * Reads what the tiles show once for all viewers of a scope, the deployment or one organization: every two seconds while at least one looks, and
 * never when nobody does.
 *
 * A viewer who is slow misses readings: none is kept for it but the last.
 */
export class LiveValues extends Context.Service<LiveValues>()("console/http/LiveValues", {
  make: Effect.gen(function* () {
    const { read } = yield* TodayReader
    const stopped = yield* Deferred.make<void>()
    let viewers = 0

    const readings = yield* RcMap.make({
      lookup: Effect.fnUntraced(function* (organizationId: OrganizationId | null) {
        const latest = yield* PubSub.sliding<LiveTexts>({ capacity: 1, replay: 1 })
        let isFailing = false
        const readOnce = Effect.gen(function* () {
          const today = yield* read(organizationId)
          isFailing = false
          yield* PubSub.publish(latest, liveTexts(today, yield* Clock.currentTimeMillis))
        }).pipe(
          // The time on the page stands still meanwhile.
          Effect.catchCause((cause) => {
            if (Cause.hasInterruptsOnly(cause) || isFailing) return Effect.void
            isFailing = true
            return Effect.logWarning("live values could not be read")
          }),
        )
        yield* Effect.forkScoped(Effect.forever(Effect.andThen(readOnce, Effect.sleep(READ_EVERY))))
        return latest
      }),
    })

    return {
      isFull: Effect.sync(() => viewers >= MAX_VIEWERS),

      /** Streams the texts of a scope until the process stops. */
      texts: (organizationId: OrganizationId | null): Stream.Stream<LiveTexts> =>
        Stream.unwrap(
          Effect.gen(function* () {
            yield* Effect.acquireRelease(
              Effect.sync(() => viewers++),
              () => Effect.sync(() => viewers--),
            )
            return Stream.fromPubSub(yield* RcMap.get(readings, organizationId))
          }),
        ).pipe(Stream.interruptWhen(Deferred.await(stopped))),

      /** Ends all streams, because the process stops. */
      stop: Effect.asVoid(Deferred.succeed(stopped, undefined)),
    }
  }),
}) {
  static readonly layer = Layer.effect(LiveValues, LiveValues.make)
}
