import { DescribedError } from "@outreach/domain/DescribedError"
import type { InboxEntry } from "@outreach/domain/inbox/InboxRepository"
import { InboxCursor, InboxReader, inboxFilters } from "../inbox/InboxReader.ts"
import { checkBox } from "../operations/Field.ts"
import { count, id, list, text, time } from "./List.ts"

class InvalidState extends DescribedError("InvalidState", "Choose pending events or applied ones, not both.") {}

/** Returns an event with field names for scripts: a quarantined one is `set_aside`. */
export const toInboxRow = ({ quarantinedAt, differing, ...entry }: InboxEntry) => ({
  ...entry,
  state: entry.state === "quarantined" ? "set_aside" : entry.state,
  setAsideAt: quarantinedAt,
  differing,
})

export const inbox = list("inbox list", {
  about: "List inbound events, by default quarantined ones",
  examples: ["ops inbox list", "ops inbox list --organization org_… --applied --type clinician.account_created"],
  filters: {
    waiting: checkBox("Pending", { hint: "Instead of quarantined events" }),
    applied: checkBox("Applied", { hint: "Instead of quarantined events, newest first" }),
    ...inboxFilters,
  },
  cursor: InboxCursor.fields,
  *read({ waiting, applied, ...filter }, { limit, after }) {
    if (waiting && applied) return yield* new InvalidState()
    const state = waiting ? "waiting" : applied ? "applied" : "quarantined"
    const { rows, next } = yield* (yield* InboxReader).list(state, filter, limit, after)
    return { rows: rows.map(({ at, ...entry }) => ({ ...toInboxRow(entry), at })), next }
  },
  columns: {
    organizationId: id("Organization"),
    eventId: text("Event"),
    type: text("Type"),
    receivedAt: time("Received"),
    reason: text("Reason"),
    setAsideAt: { ...time("Quarantined"), isOfConsole: true },
    appliedAt: { ...time("Applied"), isOfConsole: true },
    differing: count("Conflicting duplicates"),
  },
  empty: "No event in this state matches. Workers apply pending events within seconds.",
})
