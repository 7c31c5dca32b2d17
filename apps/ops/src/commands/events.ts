import { EventReader } from "@outreach/backoffice/events/EventReader"
import { eventFilters } from "@outreach/backoffice/lists/events"
import { EventId } from "@outreach/domain/Identifier"
import { maskContent } from "@outreach/domain/inbox/maskContent"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { Timestamp } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { group, reading, revealing } from "../Declaration.ts"
import { argument, switchFlag } from "../inputs/Input.ts"
import { inputsOf } from "../operationCommand.ts"
import { formatRecord, refuse } from "../output/Output.ts"

const list = reading({
  about:
    "List events of the log, newest first; --campaign looks only at the last 5,000 events of its organization in the period",
  examples: ["ops events list --recipient rcp_…", "ops events list --campaign cmp_… --type outreach.email_bounced"],
  input: inputsOf(eventFilters),
  cursor: { emittedAt: Timestamp, id: EventId },
  run: (filter, { limit, after }) =>
    EventReader.use(({ page }) =>
      Effect.map(page(filter, limit, after), ({ events }) => events.map(({ npi, ...event }) => event)),
    ),
  columns: ["id", "type", "emittedAt", "recipientId", "campaignId"],
})

const show = revealing({
  about: "Show an event of the log, and what is sent of it without personal data",
  input: {
    eventId: argument(EventId, "The event's id, evt_…"),
    reveal: switchFlag("Show the content as it is sent, with its personal data"),
  },
  *run({ eventId, reveal }) {
    const found = yield* EventReader.use(({ find }) => find(eventId, null))
    if (found === undefined) return yield* refuse("EventNotFound", `No event ${eventId} is stored.`, { eventId })
    const { body, npi, ...event } = found
    const content = reveal ? { body } : { content: JSON.stringify(maskContent(body), null, 2) }
    return { ...event, npi: npi && maskNpi(npi), ...content }
  },
  format: ({ content, body, ...event }) => `${formatRecord(event)}\n\n${body ?? content}`,
})

export const events = group({
  about: "Events that were published for the partners",
  commands: { list, show },
  services: EventReader.layer,
})
