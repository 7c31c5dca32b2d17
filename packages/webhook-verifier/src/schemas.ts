import { EVENTS } from "@outreach/contract"
import type { WebhookEvent } from "./WebhookEvent.ts"
import type { EventSchema } from "./WebhookVerifier.ts"

/** Checks every member of the events that this version knows, as the contract describes them; lets others pass. */
export const eventSchema: EventSchema<WebhookEvent> = {
  "~standard": {
    version: 1,
    vendor: "outreach",
    validate: (value) => {
      const { event_type, event_version } = value as { event_type: string; event_version: number }
      // The next version of a type may differ in anything.
      const known = event_version === 1 && Object.hasOwn(EVENTS, event_type)
      if (!known) return { value: value as WebhookEvent }
      return EVENTS[event_type as keyof typeof EVENTS].envelope["~standard"].validate(value)
    },
  },
}
