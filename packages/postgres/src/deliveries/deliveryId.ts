import { hash } from "node:crypto"
import type { DeliveryId, EndpointId, EventId } from "@outreach/domain/Identifier"

/** Creates the id of an event's delivery to an endpoint: a UUIDv7 with the event's time and a hash. The same as `delivery_id` in the database. */
export const deliveryId = (eventId: EventId, endpointId: EndpointId): DeliveryId => {
  const digest = hash("sha256", eventId + endpointId)
  return `dlv_${eventId.slice(4, 16)}7${digest.slice(0, 3)}b${digest.slice(3, 18)}` as DeliveryId
}
