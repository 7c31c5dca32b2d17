import type { IncomingMessage } from "node:http"
import type { Hit } from "@outreach/domain/hits/Hit"
import type { TrackedLink } from "@outreach/domain/hits/TrackingLinks"
import type { HitId } from "@outreach/domain/Identifier"
import { clientAddress, type TrustProxy } from "@outreach/process/trustProxy"
import type { HttpServerRequest } from "effect/http"

/** What is kept of the header fields that tell who asks, in characters. */
const KEPT = { "user-agent": 512, "sec-purpose": 64, purpose: 64, "x-moz": 64, "x-purpose": 64 } as const

/** Reads what is kept of a request for the pixel or a link. */
export const readHit = (
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
