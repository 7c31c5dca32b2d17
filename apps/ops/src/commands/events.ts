import { EventReader } from "@outreach/backoffice/events/EventReader"
import { events as eventList } from "@outreach/backoffice/lists/events"
import { EventId } from "@outreach/domain/Identifier"
import { maskContent } from "@outreach/domain/inbox/maskContent"
import { maskNpi } from "@outreach/domain/recipients/maskNpi"
import { group, revealing } from "../Declaration.ts"
import { argument, switchFlag } from "../inputs/Input.ts"
import { listCommand } from "../listCommand.ts"
import { formatRecord, refuse } from "../output/Output.ts"

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
  commands: { list: listCommand(eventList), show },
  services: EventReader.layer,
})
