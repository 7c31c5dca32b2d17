import type { IncomingMessage } from "node:http"
import type { Hit } from "@outreach/domain/hits/Hits"
import { TRACKING_PATHS, type TrackedLink, type TrackingKind, TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { createIdentifier, type HitId } from "@outreach/domain/Identifier"
import { clientAddress, type TrustProxy } from "@outreach/process/trustProxy"
import { Effect } from "effect"
import type { SecureRandom } from "effect/crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiConfig } from "../ApiConfig.ts"
import type { PageRow } from "../http/serve.ts"
import { HitQueue } from "./HitQueue.ts"
import { PERSONAL, UNKNOWN_LINK } from "./htmlPage.ts"
import { LinkDomains } from "./LinkDomains.ts"

// The smallest GIF: one transparent pixel.
const PIXEL = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64")

/** Targets of a message's links and pixel. Hits are stored after the response. */
export const trackingPages = Effect.gen(function* () {
  const { trustProxy } = yield* ApiConfig
  const readLink = yield* linkReader
  const queue = yield* HitQueue

  const click = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const link = readLink("click", request)
    if (link?.destination == null) return UNKNOWN_LINK
    yield* queue.offer(readHit(yield* createIdentifier("hit"), request, link, trustProxy))
    return HttpServerResponse.empty({ status: 302, headers: { ...PERSONAL, Location: link.destination } })
  })

  const open = Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const link = readLink("open", request)
    if (link !== undefined) yield* queue.offer(readHit(yield* createIdentifier("hit"), request, link, trustProxy))
    return HttpServerResponse.uint8Array(PIXEL, { headers: PERSONAL, contentType: "image/gif" })
  })

  return [
    ["GET", `${TRACKING_PATHS.click}*`, click],
    ["GET", `${TRACKING_PATHS.open}*`, open],
  ] satisfies ReadonlyArray<PageRow<SecureRandom.SecureRandom>>
})

/** Maximum stored length of the header fields that identify the client. */
const KEPT = { "user-agent": 512, "sec-purpose": 64, purpose: 64, "x-moz": 64, "x-purpose": 64 } as const

const readHit = (
  id: HitId,
  request: HttpServerRequest.HttpServerRequest,
  { organizationId, recipientId, destination }: TrackedLink,
  trustProxy: TrustProxy,
): Hit => ({
  id,
  organizationId,
  recipientId,
  link: destination,
  method: request.method,
  address: clientAddress(request.source as IncomingMessage, trustProxy),
  headers: Object.fromEntries(
    Object.entries(KEPT).flatMap(([name, length]) => {
      const value = request.headers[name]
      return value === undefined ? [] : [[name, value.slice(0, length)]]
    }),
  ),
})

/**
 * Creates the function that parses the link of a request. Returns undefined for links of other deployments, and for links of another organization
 * under an organization's domain.
 */
export const linkReader = Effect.gen(function* () {
  const links = yield* TrackingLinks
  const domains = yield* LinkDomains
  return (
    kind: TrackingKind,
    { url, headers }: Pick<HttpServerRequest.HttpServerRequest, "url" | "headers">,
  ): TrackedLink | undefined => {
    // A mail filter may have appended a query.
    const link = links.read(kind, url.slice(TRACKING_PATHS[kind].length).split("?")[0]!)
    return link !== undefined && domains.serves(headers["host"], link.organizationId) ? link : undefined
  }
})
