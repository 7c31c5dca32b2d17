import {
  DEAD_LETTER_REASONS,
  DELIVERY_STATES,
  type DeliveryState,
  type DeliverySummary,
} from "@outreach/domain/deliveries/Delivery"
import { type CampaignId, type DeliveryId, lowestIdentifierAt, madeAt } from "@outreach/domain/Identifier"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { BATCH_SPAN_MS } from "@outreach/postgres/deliveries/progressColumns"

/** The conditions of deliveries, all of which must match. */
export interface DeliveryFilter extends Partial<Pick<DeliverySummary, "organizationId" | "endpointId" | "eventId">> {
  /** `dead` means dead letters that weren't replayed. */
  readonly state?: DeliveryState | "dead"
  /** The last attempt's HTTP status, its outcome, and its minimum duration in seconds. */
  readonly status?: number
  readonly outcome?: string
  readonly slowerThan?: number
  readonly eventType?: string
  readonly campaignId?: CampaignId
  /** Created at or after the first and before the second. */
  readonly from?: Timestamp
  readonly to?: Timestamp
  /** Ids from the first up to the second, exclusive. */
  readonly since?: DeliveryId
  readonly before?: DeliveryId
}

export const MAX_ID = "~"

/** Maximum difference between an id's time and the time by which its delivery is listed, in milliseconds. */
const ID_MARGIN_MS = 60_000

/** Reports whether a filter concerns last attempts, which excludes deliveries without an attempt. */
export const isOfAttempts = ({ status, outcome, slowerThan }: DeliveryFilter): boolean =>
  [status, outcome, slowerThan].some((condition) => condition !== undefined)

/** The states that match a filter: only delivered ones have a successful last attempt. */
export const statesOf = ({ state, status, outcome }: DeliveryFilter): ReadonlyArray<DeliveryState> => {
  const states = state === "dead" ? DEAD_LETTER_REASONS : state === undefined ? DELIVERY_STATES : [state]
  const isSuccess = outcome !== undefined ? outcome === "success" : status && status >= 200 && status < 300
  return states.filter((each) => isSuccess === undefined || (each === "delivered") === isSuccess)
}

/** The ids that match a filter's times: no delivery is older than its event. */
export const idRange = ({
  from,
  to,
  since,
  before,
  eventId,
}: DeliveryFilter): readonly [lowest: string, beyond: string] => {
  const begins = [from && toUnixMillis(from) - ID_MARGIN_MS, eventId && madeAt(eventId)].filter(
    (millis) => typeof millis === "number",
  )
  const lowest = begins.length === 0 ? "" : lowestIdentifierAt("delivery", Math.max(...begins))
  const beyond = to === undefined ? MAX_ID : lowestIdentifierAt("delivery", toUnixMillis(to) + ID_MARGIN_MS)
  return [
    since !== undefined && since > lowest ? since : lowest,
    before !== undefined && before < beyond ? before : beyond,
  ]
}

/** The end of the batches that can contain ids below this one. */
export const batchesBelow = (id: string): string =>
  id === MAX_ID ? MAX_ID : lowestIdentifierAt("delivery", madeAt(id as DeliveryId) + BATCH_SPAN_MS + 1)

/** The ids of events whose deliveries come from the log, within a range. */
export const eventIdRange = (lowest: string, top: string, { eventId }: DeliveryFilter): readonly [string, string] => {
  if (eventId !== undefined) return [eventId, eventId]
  return [
    lowest === "" ? "" : `evt_${lowest.slice(4, 16)}`,
    top === MAX_ID ? MAX_ID : `evt_${top.slice(4, 16)}${MAX_ID}`,
  ]
}
