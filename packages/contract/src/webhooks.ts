import * as z from "zod"
import type * as wire from "../types.d.ts"
import { envelopeShape } from "./events.ts"
import { EventId, WebhookEndpointId } from "./identifiers.ts"
import type { Schema } from "./Schema.ts"
import { Instant } from "./times.ts"

/**
 * A received envelope with any event type and unchecked `data`, so that unknown types are stored
 * and acknowledged. For known types, `EVENTS[type].data` is the schema of `data`.
 */
export const InboundEvent: Schema<InboundEvent> = z
  .object({
    ...envelopeShape,
    // The id becomes an index key, so its length is limited; the specification doesn't limit it.
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
