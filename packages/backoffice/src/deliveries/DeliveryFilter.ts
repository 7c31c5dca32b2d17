import {
  DEAD_LETTER_REASONS,
  DELIVERY_STATES,
  type DeliveryState,
  UNKNOWN_OUTCOME,
} from "@outreach/domain/deliveries/Delivery"
import { DELIVERY_REASONS } from "@outreach/domain/deliveries/settleAttempt"
import { type DeliveryId, EventId, lowestIdentifierAt, madeAt } from "@outreach/domain/Identifier"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Seconds } from "@outreach/domain/textSchema"
import { BATCH_SPAN_MS } from "@outreach/postgres/deliveries/progressColumns"
import { formatCount } from "../format.ts"
import { checkBox, choice, type FilterOf, field, filterBy, timeRange } from "../operations/Field.ts"

/**
 * Number of deliveries that a page reads if it filters by event or attempt. Each step reads the waiting deliveries of all logs, so one large
 * step is faster than two.
 */
export const MAX_SCAN = 1500

export const deliveryFilters = {
  organizationId: filterBy.organization,
  endpointId: filterBy.endpoint,
  state: choice("State", [...DELIVERY_STATES, "dead"], { all: "All", hint: "Or dead letters of every reason" }),
  status: filterBy.status,
  outcome: choice("Outcome", [...DELIVERY_REASONS, UNKNOWN_OUTCOME], { all: "All", hint: "Of the last attempt" }),
  slowerThan: field(Seconds, "Slower than", { placeholder: "2s", size: 5, hint: "The last attempt", example: "2s" }),
  slowest: checkBox("Slowest first", { hint: `Among the newest ${formatCount(MAX_SCAN)}` }),
  eventId: field(EventId, "Event", { placeholder: "evt_…" }),
  type: filterBy.type,
  campaignId: filterBy.campaign,
  ...timeRange("Created from", "Created before"),
}

export type DeliveryFilter = FilterOf<typeof deliveryFilters>

export const MAX_ID = "~"

/** Maximum difference between an id's time and the time by which its delivery is listed, in milliseconds. */
const ID_MARGIN_MS = 60_000

/** Reports whether a filter concerns last attempts, which excludes deliveries without an attempt. */
export const isOfAttempts = ({ status, outcome, slowerThan, slowest }: DeliveryFilter): boolean =>
  slowest === true || isAnyDefined(status, outcome, slowerThan)

/** Reports whether a page must read deliveries that don't match. */
export const needsScan = (filter: DeliveryFilter): boolean =>
  isOfAttempts(filter) || isAnyDefined(filter.type, filter.campaignId, filter.from, filter.to)

const isAnyDefined = (...values: ReadonlyArray<unknown>): boolean => values.some((value) => value !== undefined)

/** The states that match a filter: only delivered ones have a successful last attempt. */
export const statesOf = ({ state, status, outcome }: DeliveryFilter): ReadonlyArray<DeliveryState> => {
  const states = state === "dead" ? DEAD_LETTER_REASONS : state === undefined ? DELIVERY_STATES : [state]
  const isSuccess = outcome !== undefined ? outcome === "success" : status && status >= 200 && status < 300
  return states.filter((each) => isSuccess === undefined || (each === "delivered") === isSuccess)
}

/** The ids below one that match a filter's times, and those of events whose deliveries come from the log. No delivery is older than its event. */
export const rangeBelow = (before: string, { from, to, eventId }: DeliveryFilter) => {
  const begins = [from && toUnixMillis(from) - ID_MARGIN_MS, eventId && madeAt(eventId)].filter(
    (millis) => typeof millis === "number",
  )
  const lowest = begins.length === 0 ? "" : lowestIdentifierAt("delivery", Math.max(...begins))
  const beyond = to === undefined ? MAX_ID : lowestIdentifierAt("delivery", toUnixMillis(to) + ID_MARGIN_MS)
  const top = before < beyond ? before : beyond
  const lowestEvent = eventId ?? (lowest === "" ? "" : `evt_${lowest.slice(4, 16)}`)
  const highestEvent = eventId ?? (top === MAX_ID ? MAX_ID : `evt_${top.slice(4, 16)}${MAX_ID}`)
  return { lowest, top, lowestEvent, highestEvent }
}

/** The lowest id of a delivery that was created at the end of a filter's times. */
export const highestId = ({ to }: DeliveryFilter): string =>
  to === undefined ? MAX_ID : lowestIdentifierAt("delivery", toUnixMillis(to))

/** The end of the batches that can contain ids below this one. */
export const batchesBelow = (id: string): string =>
  id === MAX_ID ? MAX_ID : lowestIdentifierAt("delivery", madeAt(id as DeliveryId) + BATCH_SPAN_MS + 1)
