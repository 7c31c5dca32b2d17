import {
  DEAD_LETTER_REASONS,
  DELIVERY_STATES,
  type DeliveryState,
  type DeliverySummary,
} from "@outreach/domain/deliveries/Delivery"
import { type CampaignId, type DeliveryId, lowestIdentifierAt, madeAt } from "@outreach/domain/Identifier"
import { type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { BATCH_SPAN_MS } from "@outreach/postgres/deliveries/progressColumns"

/** Which deliveries are selected: all conditions must hold. */
export interface DeliveryFilter extends Partial<Pick<DeliverySummary, "organizationId" | "endpointId" | "eventId">> {
  /** `dead` stands for the dead letters that were not replayed. */
  readonly state?: DeliveryState | "dead"
  /** Of the last attempt: its HTTP status, its outcome, and the seconds that it took longer than. */
  readonly status?: number
  readonly outcome?: string
  readonly slowerThan?: number
  readonly eventType?: string
  readonly campaignId?: CampaignId
  /** Created at or after, and before. */
  readonly from?: Timestamp
  readonly to?: Timestamp
  /** With ids at or above this one, and below. */
  readonly since?: DeliveryId
  readonly before?: DeliveryId
}

export const MAX_ID = "~"

/** How far an id and the time that its delivery is listed by may be apart, in milliseconds. */
const ID_MARGIN_MS = 60_000

/** Reports whether a filter is one of last attempts, which a delivery without an attempt never passes. */
export const isOfAttempts = ({ status, outcome, slowerThan }: DeliveryFilter): boolean =>
  [status, outcome, slowerThan].some((condition) => condition !== undefined)

/** The states that a filter leaves: the last attempt of what was delivered succeeded, and of nothing else. */
export const statesOf = ({ state, status, outcome }: DeliveryFilter): ReadonlyArray<DeliveryState> => {
  const states = state === "dead" ? DEAD_LETTER_REASONS : state === undefined ? DELIVERY_STATES : [state]
  const isSuccess = outcome !== undefined ? outcome === "success" : status && status >= 200 && status < 300
  return states.filter((each) => isSuccess === undefined || (each === "delivered") === isSuccess)
}

/** The ids that a filter's times leave: no delivery is older than its event. */
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

/** Where the batches end that may hold ids below this one. */
export const batchesBelow = (id: string): string =>
  id === MAX_ID ? MAX_ID : lowestIdentifierAt("delivery", madeAt(id as DeliveryId) + BATCH_SPAN_MS + 1)

/** The ids of the events whose deliveries come from the log and have ids in a range. */
export const eventIdRange = (lowest: string, top: string, { eventId }: DeliveryFilter): readonly [string, string] => {
  if (eventId !== undefined) return [eventId, eventId]
  return [
    lowest === "" ? "" : `evt_${lowest.slice(4, 16)}`,
    top === MAX_ID ? MAX_ID : `evt_${top.slice(4, 16)}${MAX_ID}`,
  ]
}
