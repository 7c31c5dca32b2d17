import { InboxEntry } from "@outreach/domain/inbox/InboxRepository"
import { rowsOf } from "../rowsOf.ts"

/** The columns of an inbound event without its body. */
export const { columns: inboxColumns } = rowsOf(InboxEntry, {
  state:
    "case when applied_at is not null then 'applied' when quarantined_at is not null then 'quarantined' else 'waiting' end",
})
