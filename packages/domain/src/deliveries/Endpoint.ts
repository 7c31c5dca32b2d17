import { type Brand, Schema } from "effect"
import type { EndpointId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import { isPublicHost } from "./isPublicAddress.ts"

/** The upper bound of an endpoint's `maxInFlight`. */
export const MAX_IN_FLIGHT = 1000

// The ports below 1024 belong to other services: all but those of the web are refused.
const endpointUrl = (asPrivate: boolean) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const url = URL.parse(text)
      if (url === null) return "it is not an absolute URL"
      if (url.protocol !== "https:" && !(asPrivate && url.protocol === "http:")) return "it must begin with https://"
      if (url.username !== "" || url.password !== "") return "it must not hold credentials"
      if (url.port === "0") return "its port must not be 0"
      if (!asPrivate && url.port !== "" && Number(url.port) < 1024) return "its port must be 443, or 1024 or above"
      if (url.hash !== "") return "it must not hold a fragment"
      return asPrivate || isPublicHost(url) || "its address is not a public one"
    }),
  ).pipe(Schema.brand("EndpointUrl"))

/** An endpoint's address. */
export const EndpointUrl = endpointUrl(false)
export type EndpointUrl = typeof EndpointUrl.Type

/** An endpoint's address in deployments that allow private addresses. */
export const PrivateEndpointUrl = endpointUrl(true)

/** An endpoint's address as everybody may see it: without the parts in which partners keep tokens, its query and long segments of its path. */
export type ShownUrl = Brand.Branded<string, "ShownUrl">

/** Where an organization receives webhooks. */
export interface Endpoint {
  readonly organizationId: OrganizationId
  readonly id: EndpointId
  readonly url: ShownUrl
  /** While false its deliveries wait. */
  readonly enabled: boolean
  /** The event types it receives; null for all. */
  readonly eventTypes: ReadonlyArray<string> | null
  /** The most calls in flight to it; null for the workers' own bound. */
  readonly maxInFlight: number | null
  /** Whether its webhooks carry the headers of Standard Webhooks, too. */
  readonly standardWebhooks: boolean
  /** Rises with every change of the endpoint, or of the secrets that sign for it. */
  readonly version: number
  readonly createdAt: Timestamp
}

/** An endpoint, and how its deliveries stand. What waits is counted up to `COUNT_CAP`, in a list up to `LIST_COUNT_CAP`. */
export interface EndpointStatus extends Endpoint {
  /**
   * Whether it is called as any other (`closed`); else it failed five times in a row, and waits for its next probe (`open`), is probed
   * (`probing`), or has answered and is called more and more (`recovering`).
   */
  readonly breaker: "closed" | "open" | "probing" | "recovering"
  /** Failures in a row, for now. */
  readonly failures: number
  /** When it is next probed; null unless it is open. */
  readonly nextProbeAt: Timestamp | null
  /** When the event was published up to which everything is settled, or has a row of its own. */
  readonly position: Timestamp
  /** The events that were published since, and are not read yet, and for how long the first of them has waited. */
  readonly lagEvents: number
  readonly lagSeconds: number
  /** The token of the worker that delivers to it; null for none. */
  readonly owner: string | null
  /** Deliveries that are not in flight, due or not: events not read yet, retries and replays, each counted so far. */
  readonly waiting: number
  readonly inFlight: number
  /** Since when the first of those waiting has been due; null when none is. */
  readonly oldestDueAt: Timestamp | null
}

/** An opening or closing of an endpoint's breaker. */
export interface BreakerChange {
  readonly changedAt: Timestamp
  /** What it became: `open` is called one by one at most, `closed` as any other. */
  readonly breaker: "open" | "closed"
  /** Failures in a row until then. */
  readonly failures: number
}
