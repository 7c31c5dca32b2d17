import { DescribedError } from "@outreach/domain/DescribedError"
import { EventId } from "@outreach/domain/Identifier"
import { maskNpi } from "@outreach/domain/recipients/Clinician"
import { EventReader } from "../events/EventReader.ts"
import { checkBox } from "./Field.ts"
import { contentOf, showContent } from "./inbox.ts"
import { operation } from "./Operation.ts"

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
