import * as z from "zod"
import type * as wire from "../types.d.ts"
import { envelopeShape } from "./events.ts"
import { EventId, WebhookEndpointId } from "./identifiers.ts"
import type { Schema } from "./Schema.ts"
import { Instant } from "./times.ts"

/**
 * An envelope as the receiver takes it: any event type, with `data` not looked into, so that an unknown type is stored
 * and acknowledged. `EVENTS[type].data` says what a known type's `data` holds.
 */
export const InboundEvent: Schema<InboundEvent> = z
  .object({
    ...envelopeShape,
    // The text becomes a key of an index, so it is bounded where the specification leaves it open.
    event_id: EventId.max(255),
    event_type: z.string().regex(/^[\x21-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters"),
    occurred_at: Instant,
    emitted_at: Instant,
    source: z.literal("consumer"),
    data: z.record(z.string(), z.unknown()),
  })
  .meta({ id: "InboundEvent", description: "An event that the consumer sends; unknown types are acknowledged." })
export type InboundEvent = wire.InboundEvent

export const WebhookReceipt: Schema<WebhookReceipt> = z
  .object({ received: z.literal(true) })
  .meta({ id: "WebhookReceipt", description: "The event is stored." })
export type WebhookReceipt = wire.WebhookReceipt

export const WebhookPath = z.strictObject({ endpoint_id: WebhookEndpointId })
