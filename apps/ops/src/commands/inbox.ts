import { type InboxCursor, InboxReader } from "@outreach/backoffice/inbox/InboxReader"
import { inboxFilters } from "@outreach/backoffice/lists/inbox"
import { replayInbox } from "@outreach/backoffice/operations/inbox"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { OrganizationId } from "@outreach/domain/Identifier"
import { type InboxEntry, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { maskContent } from "@outreach/domain/inbox/maskContent"
import { Timestamp } from "@outreach/domain/Timestamp"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { type Effect, Layer, Schema } from "effect"
import { group, reading, revealing } from "../Declaration.ts"
import { organizationId } from "../inputs/filters.ts"
import { switchFlag, textArgument } from "../inputs/Input.ts"
import { command, inputsOf } from "../operationCommand.ts"
import { formatRecord, refuse } from "../output/Output.ts"

/** Returns an event with field names for scripts: a quarantined one is `set_aside`. */
const toOutput = ({ quarantinedAt, differing, ...entry }: InboxEntry) => ({
  ...entry,
  state: entry.state === "quarantined" ? "set_aside" : entry.state,
  setAsideAt: quarantinedAt,
  differing,
})

const list = reading({
  about: "List quarantined inbound events, oldest first",
  examples: ["ops inbox list", "ops inbox list --organization org_… --applied --type clinician.account_created"],
  input: {
    waiting: switchFlag("List pending events instead of quarantined ones"),
    applied: switchFlag("List applied events, newest first"),
    ...inputsOf(inboxFilters),
  },
  cursor: { at: Timestamp, organizationId: OrganizationId, eventId: Schema.String },
  *run({ waiting, applied, ...filter }, { limit, after }) {
    if (waiting && applied) return yield* refuse("InvalidState", "Give --waiting or --applied, not both.")
    const reader = yield* InboxReader
    const state = waiting ? "waiting" : applied ? "applied" : "quarantined"
    const entries: Array<InboxEntry> = []
    let next: InboxCursor | null | undefined = after ?? undefined
    do {
      const page: Effect.Success<ReturnType<typeof reader.list>> = yield* reader.list(
        state,
        filter,
        limit - entries.length,
        next,
      )
      entries.push(...page.entries)
      next = page.next
    } while (next !== null && entries.length < limit)
    return entries.map((entry) => ({
      ...toOutput(entry),
      at: (state === "quarantined" ? entry.quarantinedAt : entry.receivedAt)!,
    }))
  },
  columns: ["organizationId", "eventId", "type", "receivedAt", "reason", "differing"],
})

const show = revealing({
  about: "Show an event that a partner sent: its state, and its content without personal data",
  examples: ["ops inbox show --organization org_… evt_…"],
  input: {
    organizationId,
    event: textArgument("The event's id as the partner sent it, evt_…"),
    reveal: switchFlag("Show the content as it was sent, with its personal data"),
  },
  *run({ organizationId, event, reveal }) {
    const { body, ...found } = yield* InboxRepository.use(({ find }) => find(organizationId, event))
    const content = reveal ? { body } : { content: JSON.stringify(maskContent(body), null, 2) }
    return { ...toOutput(found), ...content }
  },
  format: ({ content, body, ...entry }) => `${formatRecord(entry)}\n\n${body ?? content}`,
})

export const inbox = group({
  about: "Events that the partners sent",
  commands: { list, show, replay: command(replayInbox) },
  services: Layer.mergeAll(InboxRepositoryPg, InboxReader.layer, OrganizationReader.layer),
})
