import { hash } from "node:crypto"
import type { DeliveryId, EndpointId, EventId } from "@outreach/domain/Identifier"

/** Creates the id of an event's delivery to an endpoint, as `delivery_id` does in the database: a UUIDv7 of the event's time, the rest a hash. */
export const deliveryId = (eventId: EventId, endpointId: EndpointId): DeliveryId => {
  const digest = hash("sha256", eventId + endpointId)
  return `dlv_${eventId.slice(4, 16)}7${digest.slice(0, 3)}b${digest.slice(3, 18)}` as DeliveryId
}
