import { randomUUID } from "node:crypto"
import type { Publication } from "./Candidate.ts"

const hex = () => randomUUID().replaceAll("-", "")
/** Creates an id that starts with the time, like the service. */
const timeOrderedId = () => Date.now().toString(16).padStart(12, "0") + hex().slice(12)

/** Creates events like the service's, published now, for each endpoint in turn. */
export const createPublications = (count: number, endpoints: number): readonly Publication[] =>
  Array.from({ length: count }, (_, i) => {
    const eventId = `evt_${timeOrderedId()}`
    const now = new Date().toISOString().replace("Z", "000Z")
    const data = { service_recipient_id: `rcp_${hex()}`, service_campaign_id: `cmp_${hex()}`, token: "aB3dE9" }
    const envelope = {
      object: "event",
      livemode: false,
      event_id: eventId,
      event_type: "outreach.email_sent",
      event_version: 1,
    }
    const body = JSON.stringify({
      ...envelope,
      occurred_at: now,
      emitted_at: now,
      source: "service",
      data,
      metadata: null,
    })
    return { eventId, deliveryId: `dlv_${hex()}`, endpoint: i % endpoints, body }
  })
