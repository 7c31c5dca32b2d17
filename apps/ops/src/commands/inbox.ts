import { inbox as inboxList } from "@outreach/backoffice/lists/inbox"
import { replayInbox, showInboundEvent } from "@outreach/backoffice/operations/inbox"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatContent } from "../output/Output.ts"

export const inbox = group("inbox", "Events that the partners sent", [
  inboxList,
  command(showInboundEvent, { format: formatContent }),
  replayInbox,
])
