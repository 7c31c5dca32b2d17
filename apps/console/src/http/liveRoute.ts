import { Effect, Schedule, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { visibleText } from "../components/visibleText.ts"
import { LiveValues } from "./LiveValues.ts"
import { PageError } from "./PageError.ts"
import { defineResource } from "./Route.ts"

/**
 * After this the browser connects again, which checks its session anew. Until then a viewer who reads nothing leaves less in memory than a socket
 * takes before it must be waited for.
 */
const STREAM_LIMIT = "1 minute"

/** More often than proxies end a connection on which nothing comes. */
const HEARTBEAT_EVERY = "15 seconds"

/** `/live`: the texts of the tiles as server-sent events, of the deployment or of the operator's organization. */
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
    const texts = Stream.map(live.texts(viewer), (texts) => `data: ${visibleText(JSON.stringify(texts))}\n\n`)
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
