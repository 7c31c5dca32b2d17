import { EVENTS } from "@outreach/contract"
import type { WebhookEvent } from "./WebhookEvent.ts"
import type { EventSchema } from "./WebhookVerifier.ts"

/** Validates all fields of known events as described by the contract. Unknown fields pass. */
export const eventSchema: EventSchema<WebhookEvent> = {
  "~standard": {
    version: 1,
    vendor: "outreach",
    validate: (value) => {
      const { event_type, event_version } = value as { event_type: string; event_version: number }
      // A newer version of a type may differ in any field.
      const known = event_version === 1 && Object.hasOwn(EVENTS, event_type)
      if (!known) return { value: value as WebhookEvent }
      return EVENTS[event_type as keyof typeof EVENTS].envelope["~standard"].validate(value)
    },
  },
}
