import type { IncomingMessage } from "node:http"
import { TRACKING_PATHS, type TrackedLink, type TrackingKind, TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { createIdentifier } from "@outreach/domain/Identifier"
import { clientAddress } from "@outreach/process/trustProxy"
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

/** Maximum stored length of the header fields that identify the client. */
const KEPT = { "user-agent": 512, "sec-purpose": 64, purpose: 64, "x-moz": 64, "x-purpose": 64 } as const

/** Targets of a message's links and pixel. Hits are stored after the response. */
export const trackingPages = Effect.gen(function* () {
  const { trustProxy } = yield* ApiConfig
  const readLink = yield* linkReader
  const queue = yield* HitQueue

  /** Queues the hit of a valid link and returns its destination; undefined for an invalid link. */
  const follow = Effect.fnUntraced(function* (kind: "click" | "open") {
    const request = yield* HttpServerRequest.HttpServerRequest
    const link = readLink(kind, request)
    if (link === undefined || (kind === "click" && link.destination === null)) return undefined
    yield* queue.offer({
      id: yield* createIdentifier("hit"),
      organizationId: link.organizationId,
      recipientId: link.recipientId,
      link: link.destination,
      method: request.method,
      address: clientAddress(request.source as IncomingMessage, trustProxy),
      headers: Object.fromEntries(
        Object.entries(KEPT).flatMap(([name, length]) => {
          const value = request.headers[name]
          return value === undefined ? [] : [[name, value.slice(0, length)]]
        }),
      ),
    })
    return link.destination
  })
  const click = Effect.map(follow("click"), (destination) =>
    destination == null
      ? UNKNOWN_LINK
      : HttpServerResponse.empty({ status: 302, headers: { ...PERSONAL, Location: destination } }),
  )
  const open = Effect.map(follow("open"), () =>
    HttpServerResponse.uint8Array(PIXEL, { headers: PERSONAL, contentType: "image/gif" }),
  )
  return [
    ["GET", `${TRACKING_PATHS.click}*`, click],
    ["GET", `${TRACKING_PATHS.open}*`, open],
  ] satisfies ReadonlyArray<PageRow<SecureRandom.SecureRandom>>
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
