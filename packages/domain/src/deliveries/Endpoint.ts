import { Schema } from "effect"
import { EndpointId, OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import { noneOr, wholeNumber } from "../textSchema.ts"
import { isPublicHost } from "./isPublicAddress.ts"

const MAX_IN_FLIGHT = 1000
const MAX_PER_SECOND = 10_000

/** The text of a limit of an endpoint. */
export const InFlight = noneOr(wholeNumber(1, MAX_IN_FLIGHT), `a whole number from 1 to ${MAX_IN_FLIGHT}, or none`)
export const PerSecond = noneOr(wholeNumber(1, MAX_PER_SECOND), `a whole number from 1 to ${MAX_PER_SECOND}, or none`)

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

export const EndpointUrl = endpointUrl(false)
export type EndpointUrl = typeof EndpointUrl.Type

/** An endpoint's address in deployments that allow private addresses. */
export const PrivateEndpointUrl = endpointUrl(true)

/** An endpoint's address as it is stored: the rules were applied when it was given, and may have changed since. */
export const StoredEndpointUrl = Schema.String.pipe(Schema.brand("EndpointUrl"))

/** An endpoint's address as everybody may see it: without the parts in which partners keep tokens, its query and long segments of its path. */
export const ShownUrl = Schema.String.pipe(Schema.brand("ShownUrl"))
export type ShownUrl = typeof ShownUrl.Type

/** What may be set of an endpoint, beside its address. */
export const EndpointSettings = Schema.Struct({
  /** The event types that it receives; null for all. */
  eventTypes: Schema.NullOr(Schema.Array(Schema.String)),
  /** The most calls in flight to it; null for the workers' own bound. */
  maxInFlight: Schema.NullOr(Schema.Int),
  /** The most calls that begin within a second; null for no bound. */
  perSecond: Schema.NullOr(Schema.Int),
  /** The statuses of 4xx and 5xx after which a delivery is tried again, and `Retry-After` is kept. */
  retryStatuses: Schema.Array(Schema.Int),
  /** The seconds between the attempts at a delivery; null for the deployment's schedule. */
  retryDelays: Schema.NullOr(Schema.Array(Schema.Int)),
  /** Whether a response of 410 disables it. */
  disableOnGone: Schema.Boolean,
  /** Whether it is disabled once every call has failed for some days. */
  disableWhenFailing: Schema.Boolean,
  /** Whether its webhooks carry the headers of Standard Webhooks, too. */
  standardWebhooks: Schema.Boolean,
})
export type EndpointSettings = typeof EndpointSettings.Type

/** Who disabled an endpoint: an operator, the endpoint itself by a response of 410, or the service because every call failed. */
export const DISABLED_REASONS = ["operator", "gone", "failing"] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const Endpoint = Schema.Struct({
  organizationId: OrganizationId,
  id: EndpointId,
  url: ShownUrl,
  /** While false its deliveries wait. */
  enabled: Schema.Boolean,
  /** When it was disabled, and why; null while it is enabled. */
  disabledAt: Schema.NullOr(Timestamp),
  disabledReason: Schema.NullOr(Schema.Literals(DISABLED_REASONS)),
  ...EndpointSettings.fields,
  /** Whether it has signing secrets of its own. Those of its organization sign too until their grace window is over. */
  ownSecrets: Schema.Boolean,
  /** Rises with every change of the endpoint, or of the secrets that sign for it. */
  version: Schema.Int,
  createdAt: Timestamp,
  /** From then on nothing goes to it or comes from it. It stays for as long as something is kept of its history. */
  removedAt: Schema.NullOr(Timestamp),
})
export type Endpoint = typeof Endpoint.Type

/** An endpoint, and how its deliveries stand. What waits is counted up to `COUNT_CAP`, in a list up to `LIST_COUNT_CAP`. */
export const EndpointStatus = Schema.Struct({
  ...Endpoint.fields,
  /**
   * It opens after five calls in a row that failed and may succeed later. `open`: it waits for its next probe. `recovering`: it has answered and is
   * called more and more; then one such call opens it again.
   */
  breaker: Schema.Literals(["closed", "open", "probing", "recovering"]),
  /** Those calls in a row, since the last one that was answered with another status. */
  failures: Schema.Int,
  /** Since when every call has failed, if that is known, and how often its organization was notified of it, or would have been. */
  failingSince: Schema.NullOr(Timestamp),
  notices: Schema.Int,
  /** When it is next probed; null unless it is open. */
  nextProbeAt: Schema.NullOr(Timestamp),
  /** When the event was published up to which everything is settled, or has a row of its own. */
  position: Timestamp,
  /** The events published since that are not read yet, and for how long the first of them has waited. */
  lagEvents: Schema.Int,
  lagSeconds: Schema.Number,
  /** The token of the worker that delivers to it; null for none. */
  owner: Schema.NullOr(Schema.String),
  /** Deliveries that are not in flight, due or not: events not read yet, retries and replays, each counted up to the cap. */
  waiting: Schema.Int,
  /** Those of them that are replays. */
  waitingReplays: Schema.Int,
  inFlight: Schema.Int,
  /** When the first of those waiting became due; null when none is. */
  oldestDueAt: Schema.NullOr(Timestamp),
})
export type EndpointStatus = typeof EndpointStatus.Type

/** An opening or closing of an endpoint's breaker. */
export const BreakerChange = Schema.Struct({
  changedAt: Timestamp,
  /** Its new state: an `open` breaker lets at most one call at a time through. */
  breaker: Schema.Literals(["open", "closed"]),
})
export type BreakerChange = typeof BreakerChange.Type
