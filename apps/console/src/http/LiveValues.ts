import { TodayReader } from "@outreach/backoffice/today/TodayReader"
import type { OperatorId, OrganizationId } from "@outreach/domain/Identifier"
import { Cause, Clock, Context, Deferred, Effect, Layer, PubSub, RcMap, Record, Schedule, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { visibleText } from "../components/values.tsx"
import { liveTexts } from "../pages/today/todayTiles.ts"
import { PageError } from "./PageError.ts"
import { defineResource } from "./Route.ts"

const READ_EVERY = "2 seconds"

/** More than operators have open at once; each holds a connection. */
export const MAX_VIEWERS = 200

/** A browser has six connections to a server without HTTP/2, and a page in the background holds none. */
export const MAX_OF_SESSION = 6
/** Two browsers, or one that has lost its sessions. */
export const MAX_OF_OPERATOR = 12

/** Who looks. The streams of each are bounded. */
export interface Viewer {
  readonly operatorId: OperatorId
  /** Names the session. */
  readonly session: string
  /** Whose values are shown; null for those of the deployment. */
  readonly organizationId: OrganizationId | null
}

type LiveTexts = ReturnType<typeof liveTexts>

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
    const viewers = new Set<Viewer>()
    const refuses = ({ session, operatorId }: Viewer): "viewers" | "viewer" | undefined => {
      if (viewers.size >= MAX_VIEWERS) return "viewers"
      const ofOperator = [...viewers].filter((each) => each.operatorId === operatorId)
      const ofSession = ofOperator.filter((each) => each.session === session)
      return ofOperator.length >= MAX_OF_OPERATOR || ofSession.length >= MAX_OF_SESSION ? "viewer" : undefined
    }

    const readings = yield* RcMap.make({
      lookup: Effect.fnUntraced(function* (organizationId: OrganizationId | null) {
        const latest = yield* PubSub.sliding<LiveTexts>({ capacity: 1, replay: 1 })
        let isFailing = false
        const readOnce = Effect.gen(function* () {
          const today = yield* read(organizationId)
          isFailing = false
          yield* PubSub.publish(latest, liveTexts(today, yield* Clock.currentTimeMillis))
        }).pipe(
          // Until a reading succeeds, the time on the page stands still.
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
      /** Returns whether there are too many streams of all `viewers`, or of this `viewer`; undefined if one more may begin. */
      refuses: (viewer: Viewer) => Effect.sync(() => refuses(viewer)),

      /** Streams the texts of a viewer's scope until the process stops; none if there are too many streams. */
      texts: (viewer: Viewer): Stream.Stream<LiveTexts> =>
        Stream.unwrap(
          Effect.gen(function* () {
            // Others may have begun since the request was let in.
            if (refuses(viewer) !== undefined) return Stream.empty
            const own = { ...viewer }
            yield* Effect.acquireRelease(
              Effect.sync(() => viewers.add(own)),
              () => Effect.sync(() => viewers.delete(own)),
            )
            return Stream.fromPubSub(yield* RcMap.get(readings, viewer.organizationId))
          }),
        ).pipe(Stream.interruptWhen(Deferred.await(stopped))),

      stop: Effect.asVoid(Deferred.succeed(stopped, undefined)),
    }
  }),
}) {
  static readonly layer = Layer.effect(LiveValues, LiveValues.make)
}

/**
 * After this the browser connects again, which checks its session anew. Until then a viewer who reads nothing leaves less in memory than a socket
 * takes before it must be waited for.
 */
const STREAM_LIMIT = "1 minute"

/** More often than proxies end a connection on which nothing comes. */
const HEARTBEAT_EVERY = "15 seconds"

/** `/live`: the texts of the tiles as server-sent events, after the first those that have changed, of the deployment or of the operator's organization. */
export const liveRoute = defineResource("/live", {
  run: Effect.fnUntraced(function* (_, { operator, session }) {
    const live = yield* LiveValues
    const viewer = { operatorId: operator.id, session, organizationId: operator.organizationId }
    const refused = yield* live.refuses(viewer)
    if (refused !== undefined) {
      return yield* new PageError({
        status: refused === "viewer" ? 429 : 503,
        title: "Too many viewers",
        messages: [
          `${refused === "viewer" ? "You have too many pages open" : "Too many pages are open"}. This one is not renewed by itself; load it again.`,
        ],
        retryAfterSeconds: 60,
      })
    }
    const texts = live.texts(viewer).pipe(
      Stream.mapAccum(
        (): LiveTexts => ({}),
        (last, now) => [now, [Record.filter(now, (text, name) => text !== last[name])]],
      ),
      Stream.map((changed) => `data: ${visibleText(JSON.stringify(changed))}\n\n`),
    )
    const heartbeats = Stream.map(Stream.fromSchedule(Schedule.spaced(HEARTBEAT_EVERY)), () => ": still here\n\n")
    const events = Stream.merge(texts, heartbeats, { haltStrategy: "left" }).pipe(
      Stream.prepend(["retry: 1000\n\n"]),
      Stream.interruptWhen(Effect.sleep(STREAM_LIMIT)),
      Stream.encodeText,
    )
    return HttpServerResponse.stream(events, {
      contentType: "text/event-stream; charset=utf-8",
      // The second is for nginx, which would wait for more before it passes anything on.
      headers: { "cache-control": "no-store, no-transform", "x-accel-buffering": "no" },
    })
  }),
})
