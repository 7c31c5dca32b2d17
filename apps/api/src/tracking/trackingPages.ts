import { makeIdentifier } from "@outreach/domain/Identifier"
import { TRACKING_PATHS, type TrackingKind, TrackingLinks } from "@outreach/domain/outreach/TrackingLinks"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import { html } from "../docs/html.ts"
import type { PageRow } from "../http/serve.ts"
import { HitQueue } from "./HitQueue.ts"
import { notice, PERSONAL } from "./notice.ts"
import { readHit } from "./readHit.ts"

// One transparent point, the smallest GIF there is.
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")

const UNKNOWN = notice(
  404,
  "This link leads nowhere",
  html`<p>It is incomplete, or was changed on its way. Please open it from the e-mail again.</p>`,
)

/** What the links of messages lead to: destinations, the pixel, and the page to unsubscribe. Hits are answered first, and stored then. */
export const trackingPages = Effect.gen(function* () {
  const { trustProxy } = yield* ApiConfig
  const links = yield* TrackingLinks
  const queue = yield* HitQueue

  const read = (kind: TrackingKind, request: HttpServerRequest.HttpServerRequest) => {
    const payload = request.url.slice(TRACKING_PATHS[kind].length).split("?")[0]!
    return links.read(kind, payload)
  }

  const click = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const link = read("click", request)
    if (link?.destination == null) return UNKNOWN
    yield* queue.offer(readHit(yield* makeIdentifier("hit"), request, link, trustProxy))
    return HttpServerResponse.empty({ status: 302, headers: { ...PERSONAL, Location: link.destination } })
  })

  const open = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const link = read("open", request)
    if (link !== undefined) yield* queue.offer(readHit(yield* makeIdentifier("hit"), request, link, trustProxy))
    return HttpServerResponse.uint8Array(PIXEL, { headers: PERSONAL, contentType: "image/gif" })
  })

  return [
    ["GET", `${TRACKING_PATHS.click}*`, click],
    ["GET", `${TRACKING_PATHS.open}*`, open],
  ] satisfies ReadonlyArray<PageRow<SecureRandom.SecureRandom>>
})

/** Tells whether a request's path is that of a tracked link, whose seal no log and no trace may show. */
export const isTrackingPath = (path: string): boolean =>
  Object.values(TRACKING_PATHS).some((prefix) => path.startsWith(prefix))
