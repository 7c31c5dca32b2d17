import { events as eventList } from "@outreach/backoffice/lists/events"
import { showEvent } from "@outreach/backoffice/operations/events"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatContent } from "../output/Output.ts"

export const events = group("events", "Events that were published for the partners", [
  eventList,
  command(showEvent, { format: formatContent }),
])
