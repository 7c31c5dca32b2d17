import { DescribedError } from "@outreach/domain/DescribedError"
import { EventId } from "@outreach/domain/Identifier"
import { maskNpi } from "@outreach/domain/recipients/Clinician"
import { Timestamp } from "@outreach/domain/Timestamp"
import { EventReader, eventFilters } from "../events/EventReader.ts"
import { checkBox } from "./Field.ts"
import { contentOf, showContent } from "./inbox.ts"
import { id, inOps, list, text, time } from "./List.ts"
import { operation } from "./Operation.ts"

export const events = list("events list", {
  forPartners: true,
  about: "List events of the log, newest first",
  examples: ["ops events list --recipient rcp_…", "ops events list --campaign cmp_… --type outreach.email_bounced"],
  filters: eventFilters,
  cursor: { emittedAt: Timestamp, id: EventId },
  read: (filter, { limit, after, direction }) => EventReader.use(({ page }) => page(filter, limit, after, direction)),
  columns: {
    ...inOps("id"),
    type: { ...text("Event"), of: ({ id }) => id },
    emittedAt: { ...time("Emitted"), sort: "desc" },
    recipientId: id("Clinician"),
    campaignId: id("Campaign"),
    organizationId: { ...id("Organization"), isOfConsole: true },
  },
  omit: ["npi"],
  empty: "No events. They are published while a campaign is sent.",
  filledBy: "campaigns schedule",
})

class EventNotFound extends DescribedError("EventNotFound", "No event {eventId} is stored.") {}

export const showEvent = operation("events show", {
  access: "reveals",
  about: "Show an event of the log, and what is sent of it without personal data",
  of: { eventId: EventId },
  input: { reveal: checkBox("Show the content as it is sent, with its personal data") },
  *run({ eventId, reveal }) {
    const found = yield* EventReader.use(({ find }) => find(eventId, null))
    if (found === undefined) return yield* new EventNotFound({ eventId })
    const { body, npi, ...event } = found
    return { ...event, npi: npi && maskNpi(npi), ...contentOf(body, reveal) }
  },
  show: (event) => showContent(event),
})
