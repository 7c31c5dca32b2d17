import { DescribedError } from "@outreach/domain/DescribedError"
import { type InboxEntry, InboxRepository, SIGNATURE_FAULTS } from "@outreach/domain/inbox/InboxRepository"
import { Schema } from "effect"
import { formatCapped, formatCounted } from "../format.ts"
import { InboxCursor, InboxReader, inboxFilters } from "../inbox/InboxReader.ts"
import { maskContent } from "../inbox/maskContent.ts"
import { OrganizationReader } from "../organizations/OrganizationReader.ts"
import { checkBox, field, filterBy, organizationId, required } from "./Field.ts"
import { count, id, list, text, time } from "./List.ts"
import { operation, type Part } from "./Operation.ts"

class InvalidState extends DescribedError("InvalidState", "Choose pending events or applied ones, not both.") {}

/** Returns an event with field names for scripts: a quarantined one is `set_aside`. */
const toInboxRow = ({ quarantinedAt, differing, ...entry }: InboxEntry) => ({
  ...entry,
  state: entry.state === "quarantined" ? "set_aside" : entry.state,
  setAsideAt: quarantinedAt,
  differing,
})

export const inbox = list("inbox list", {
  forPartners: true,
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
  filledBy: null,
})

export const signatureRejections = list("signature-rejections list", {
  forPartners: true,
  about:
    "List the inbound webhooks without a valid signature by endpoint and reason, newest first, at most some seconds late. Their content isn't stored",
  filters: { organizationId: filterBy.organization },
  key: ["endpointId", "reason"],
  read: ({ organizationId }) => InboxReader.use(({ rejections }) => rejections(organizationId)),
  columns: {
    endpointId: id("Endpoint"),
    reason: { ...text("Reason"), shown: ({ reason }) => SIGNATURE_FAULTS[reason] },
    count: count("Webhooks"),
    firstAt: time("First"),
    lastAt: time("Last"),
  },
  empty: "Every webhook had a valid signature.",
  filledBy: null,
})

/** Shows an event's fields, and below them its content. */
export const showContent = ({
  content = "",
  body = content,
  ...event
}: object & { readonly content?: string; readonly body?: string }): ReadonlyArray<Part> => [{ fields: event }, body]

/** The content of an event as JSON, in which personal data is masked unless it is revealed. */
export const contentOf = (body: string, reveal = false) =>
  reveal ? { body } : { content: JSON.stringify(maskContent(body), null, 2) }

export const showInboundEvent = operation("inbox show", {
  access: "reveals",
  about: "Show an event that a partner sent: its state, and its content without personal data",
  input: {
    organizationId,
    event: required(field(Schema.String, "The event's id as the partner sent it, evt_…", { isArgument: true })),
    reveal: checkBox("Show the content as it was sent, with its personal data"),
  },
  *run({ organizationId, event, reveal }) {
    const { body, ...found } = yield* InboxRepository.use(({ find }) => find(organizationId, event))
    return { ...toInboxRow(found), ...contentOf(body, reveal) }
  },
  show: (event) => showContent(event),
  examples: ["ops inbox show --organization org_… evt_…"],
})

class OneOrAll extends DescribedError("OneOrAll", "Give either the id of one event, or --all.") {}

export const replayInbox = operation("inbox replay", {
  role: "operator",
  about: "Apply quarantined events again, in the order of receipt",
  label: "Replay",
  input: {
    organizationId,
    event: field(Schema.String, "Event", { hint: "The partner's id of a quarantined event", isArgument: true }),
    all: checkBox("All quarantined events of the organization"),
  },
  *plan({ organizationId }) {
    const { quarantined } = yield* (yield* InboxReader).counts(organizationId)
    return {
      title: "Replay all quarantined events",
      many: `${formatCapped(quarantined)} ${quarantined === 1 ? "event" : "events"}`,
      affects: yield* (yield* OrganizationReader).find(organizationId),
      when: "Now, in the order of receipt. Events that still can't be applied are quarantined again.",
    }
  },
  *run({ organizationId, event, all = false }) {
    const repository = yield* InboxRepository
    if ((event !== undefined) === all) return yield* new OneOrAll()
    if (event === undefined) return { replayed: yield* repository.replayAll(organizationId) }
    yield* repository.replay(organizationId, event)
    return { replayed: 1 }
  },
  done: ({ replayed }) => `${formatCounted(replayed, "event is", "events are")} queued and will be applied again.`,
  examples: ["ops inbox replay --organization org_… evt_…", "ops inbox replay --organization org_… --all"],
})
