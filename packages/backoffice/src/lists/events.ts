import { EventId } from "@outreach/domain/Identifier"
import { Timestamp } from "@outreach/domain/Timestamp"
import { EventReader, eventFilters } from "../events/EventReader.ts"
import { id, inOps, list, text, time } from "./List.ts"

export const events = list("events list", {
  about: "List events of the log, newest first",
  examples: ["ops events list --recipient rcp_…", "ops events list --campaign cmp_… --type outreach.email_bounced"],
  filters: eventFilters,
  cursor: { emittedAt: Timestamp, id: EventId },
  read: (filter, { limit, after }) => EventReader.use(({ page }) => page(filter, limit, after)),
  columns: {
    id: inOps,
    type: { ...text("Event"), of: ({ id }) => id },
    emittedAt: time("Emitted"),
    recipientId: id("Clinician"),
    campaignId: id("Campaign"),
    organizationId: { ...id("Organization"), isOfConsole: true },
  },
  omit: ["npi"],
  empty: "No event matches.",
})
