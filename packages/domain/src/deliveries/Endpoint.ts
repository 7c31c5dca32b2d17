import { Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { outboundEventTypes } from "../events/outgoingEvents.ts"
import { EndpointId, OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"
import { commaSeparated, expectedBy, noneOr, textSchema, wholeNumber } from "../textSchema.ts"
import type { CustomHeaders } from "./CustomHeaders.ts"
import { isPublicHost } from "./isPublicAddress.ts"

const MAX_IN_FLIGHT = 1000
const MAX_PER_SECOND = 10_000

/** Text of an endpoint's call limit. */
export const InFlight = noneOr(wholeNumber(1, MAX_IN_FLIGHT), `a whole number from 1 to ${MAX_IN_FLIGHT}, or none`)
export const PerSecond = noneOr(wholeNumber(1, MAX_PER_SECOND), `a whole number from 1 to ${MAX_PER_SECOND}, or none`)

const ALL = "all"
const SomeTypes = commaSeparated(outboundEventTypes)

/** Event types that an endpoint receives. The audit log records its entries. */
export const EventTypes: Schema.Codec<ReadonlyArray<string>, string> = Schema.Union([
  textSchema(ALL, (text) => (text === ALL ? [ALL] : undefined)),
  SomeTypes,
]).annotate({ expected: `${ALL}, or ${expectedBy(SomeTypes)}` })
export const toEventTypes = (entries: ReadonlyArray<string>): EndpointSettings["eventTypes"] =>
  entries.join() === ALL ? null : entries
export const fromEventTypes = (types: EndpointSettings["eventTypes"]): ReadonlyArray<string> => types ?? [ALL]

// Ports below 1024 belong to other services: all except the web's are rejected.
const endpointUrl = (asPrivate: boolean) =>
  Schema.String.check(
    Schema.makeFilter((text) => {
      const url = URL.parse(text)
      if (url === null) return "it is not an absolute URL"
      if (url.protocol !== "https:" && !(asPrivate && url.protocol === "http:")) return "it must start with https://"
      if (url.username !== "" || url.password !== "") return "it must not contain credentials"
      if (url.port === "0") return "its port must not be 0"
      if (!asPrivate && url.port !== "" && Number(url.port) < 1024) return "its port must be 443, or 1024 or above"
      if (url.hash !== "") return "it must not contain a fragment"
      return asPrivate || isPublicHost(url) || "its address is not a public one"
    }),
  ).pipe(Schema.brand("EndpointUrl"))

export const EndpointUrl = endpointUrl(false)
export type EndpointUrl = typeof EndpointUrl.Type

/** An endpoint URL in deployments that allow private addresses. */
export const PrivateEndpointUrl = endpointUrl(true)

/** A stored endpoint URL: it was validated when it was set, and the rules may have changed since. */
export const StoredEndpointUrl = Schema.String.pipe(Schema.brand("EndpointUrl"))

/** An endpoint URL without the parts that may contain secrets: its query and long path segments. */
const ShownUrl = Schema.String.pipe(Schema.brand("ShownUrl"))
export type ShownUrl = typeof ShownUrl.Type

/** Settings of an endpoint, without its URL. */
export const EndpointSettings = Schema.Struct({
  /** Event types to receive; null for all. */
  eventTypes: Schema.NullOr(Schema.Array(Schema.String)),
  /** Maximum calls in flight; null for the workers' limit. */
  maxInFlight: Schema.NullOr(Schema.Int),
  /** Maximum calls started per second; null for unlimited. */
  perSecond: Schema.NullOr(Schema.Int),
  /** Statuses (4xx and 5xx) after which a delivery is retried and `Retry-After` is honoured. */
  retryStatuses: Schema.Array(Schema.Int),
  /** Seconds between the attempts of a delivery; null for the deployment's schedule. */
  retryDelays: Schema.NullOr(Schema.Array(Schema.Int)),
  /** Whether a 410 disables it. */
  disableOnGone: Schema.Boolean,
  /** Whether it is disabled after all calls failed for some days. */
  disableWhenFailing: Schema.Boolean,
  /** Whether to also send the Standard Webhooks headers. */
  standardWebhooks: Schema.Boolean,
  /** Names of additional headers. Their values are secrets, and can't be read again. */
  headers: Schema.Array(Schema.String),
})
export type EndpointSettings = typeof EndpointSettings.Type

/** Settings as they are entered: the headers with their values, or null for none. */
type EnteredSettings = Omit<EndpointSettings, "headers"> & { readonly headers: CustomHeaders | null }

/** New settings; undefined for those that stay. */
export type SettingChanges = { readonly [Name in keyof EnteredSettings]?: EnteredSettings[Name] | undefined }

/** Who disabled an endpoint: an operator, the endpoint by a 410, or the service because all calls failed. */
export const DISABLED_REASONS = ["operator", "gone", "failing"] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export const Endpoint = Schema.Struct({
  organizationId: OrganizationId,
  id: EndpointId,
  url: ShownUrl,
  /** While false, its deliveries wait. */
  enabled: Schema.Boolean,
  /** Time and reason of disabling; null while it is enabled. */
  disabledAt: Schema.NullOr(Timestamp),
  disabledReason: Schema.NullOr(Schema.Literals(DISABLED_REASONS)),
  ...EndpointSettings.fields,
  /** Whether it has its own signing secrets. Those of its organization also sign until their grace period is over. */
  ownSecrets: Schema.Boolean,
  /** Increases with every change of the endpoint or its signing secrets. */
  version: Schema.Int,
  createdAt: Timestamp,
  /** Since then, no events are sent to it or accepted from it. It is kept as long as any of its history. */
  removedAt: Schema.NullOr(Timestamp),
})
export type Endpoint = typeof Endpoint.Type

/** An endpoint with the state of its deliveries. Waiting deliveries are counted up to `COUNT_CAP`, in lists up to `LIST_COUNT_CAP`. */
export const EndpointStatus = Schema.Struct({
  ...Endpoint.fields,
  /**
   * It opens after five temporary failures in a row. `open`: waiting for its next probe. `recovering`: it responded and the call limit
   * increases; one such failure opens it again.
   */
  breaker: Schema.Literals(["closed", "open", "probing", "recovering"]),
  /** Number of those failures in a row, since the last other response. */
  failures: Schema.Int,
  /** Since when all calls have failed, if known, and how many notices were due. */
  failingSince: Schema.NullOr(Timestamp),
  notices: Schema.Int,
  /** Time of its next probe; null unless it is open. */
  nextProbeAt: Schema.NullOr(Timestamp),
  /** Publication time up to which all events are settled or have a delivery row. */
  position: Timestamp,
  /** Number of later events that aren't read yet, and the age of the first. */
  lagEvents: Schema.Int,
  lagSeconds: Schema.Number,
  /** Token of the worker that delivers to it; null for none. */
  owner: Schema.NullOr(Schema.String),
  /** Number of deliveries not in flight, due or not: unread events, retries and replays, each counted up to the cap. */
  waiting: Schema.Int,
  /** Number of waiting replays. */
  waitingReplays: Schema.Int,
  /** Number of waiting deliveries whose next attempt after a failure is due later, retries and replays each counted up to the cap. */
  dueLater: Schema.Int,
  /** Number of dead letters that weren't replayed. */
  deadLetters: Schema.Int,
  /** Number of causes for which calls fail, including muted ones. A cause ends minutes after calls succeed again. */
  causes: Schema.Int,
  inFlight: Schema.Int,
  /** Due time of the oldest waiting delivery; null if none is due. */
  oldestDueAt: Schema.NullOr(Timestamp),
})
export type EndpointStatus = typeof EndpointStatus.Type

export class EndpointNotFound extends DescribedError("EndpointNotFound", "No webhook endpoint {endpointId}.") {}

export class EndpointRemoved extends DescribedError(
  "EndpointRemoved",
  "The webhook endpoint {endpointId} was removed at {removedAt}, for good: only its history is left.",
) {}

/** Reason why an endpoint can't be used. */
export type EndpointUnavailable = EndpointNotFound | EndpointRemoved

type RetryStatusSettings = Pick<EndpointSettings, "retryStatuses" | "disableOnGone">

const MAX_STATUSES = 32
const NONE = "none"
const DISABLE = "410=disable"

/** Parses the entries of `RetryStatuses`. Throws `RangeError` that names the invalid one. */
export const toRetryStatuses = (entries: ReadonlyArray<string>): RetryStatusSettings => {
  if (entries.join() === NONE) return { retryStatuses: [], disableOnGone: false }
  if (entries.length > MAX_STATUSES) throw new RangeError(`there are more than ${MAX_STATUSES} statuses`)
  const disableOnGone = entries.includes(DISABLE)
  const retryStatuses = entries.filter((entry) => entry !== DISABLE).map(parseStatus)
  if (disableOnGone && retryStatuses.includes(410)) {
    throw new RangeError("410 is either tried again, or disables the endpoint")
  }
  return { retryStatuses: retryStatuses.toSorted((a, b) => a - b), disableOnGone }
}

/** Statuses after which a delivery is retried and `Retry-After` is honoured, as text of `formatRetryStatuses`. The audit log records its entries. */
export const RetryStatuses = textSchema<ReadonlyArray<string>>(
  `${NONE}, or up to ${MAX_STATUSES} statuses from 400 to 599 such as 408,429,503, of which ${DISABLE} disables the endpoint`,
  (text) => {
    const entries = [...new Set(text.split(",").map((entry) => entry.trim()))]
    toRetryStatuses(entries)
    return entries
  },
)

const parseStatus = (entry: string): number => {
  if (/^\d+=disable$/.test(entry)) throw new RangeError("only 410 can disable the endpoint")
  if (/^2\d\d$/.test(entry)) throw new RangeError(`${entry} is a success`)
  if (/^[13]\d\d$/.test(entry)) throw new RangeError(`${entry} is always tried again`)
  if (!/^[45]\d\d$/.test(entry)) throw new RangeError(`${JSON.stringify(entry.slice(0, 20))} is not a status`)
  return Number(entry)
}

export const formatRetryStatuses = ({ retryStatuses, disableOnGone }: RetryStatusSettings): string =>
  [...retryStatuses, ...(disableOnGone ? [DISABLE] : [])].join() || NONE
