import { type InboxPlace, InboxReader, lastHours } from "@outreach/backoffice/inbox/InboxReader"
import { type InboxEntry, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { maskContent } from "@outreach/domain/inbox/maskContent"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { Clock, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { changing, reading, revealing } from "../audit/Access.ts"
import { limit, organization } from "../inputs/commonFlags.ts"
import { switchFlag, wholeNumberFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { instant } from "../inputs/times.ts"
import { formatRecord, print, printList, printPage } from "../output/Output.ts"

/** The command line names neither or both of one event and `--all`. The tag is the failure's `code`, which scripts may read: `one_or_all`. */
class InvalidSelection extends Schema.TaggedError<InvalidSelection>()("OneOrAll", {}) {
  override get message(): string {
    return "Give the id of one event, or --all to replay every event that was set aside."
  }
}

/** The list is of one state. */
class InvalidState extends Schema.TaggedError<InvalidState>()("InvalidState", {}) {
  override get message(): string {
    return "Give --waiting or --applied, not both."
  }
}

/** Returns an event under the names that scripts read: a quarantined one is `set_aside`. */
const toOutput = ({ quarantinedAt, differing, ...entry }: InboxEntry) => ({
  ...entry,
  state: entry.state === "quarantined" ? "set_aside" : entry.state,
  setAsideAt: quarantinedAt,
  differing,
})

const type = Flag.String("type").pipe(Flag.withDescription("Only events of this type"), Flag.optional)
const reason = Flag.String("reason").pipe(
  Flag.withDescription("Only events that were set aside for this reason, as the list shows it"),
  Flag.optional,
)

const list = reading(
  "list",
  {
    organization: organization.pipe(Flag.optional),
    waiting: switchFlag("waiting", "List the events that wait to be applied, instead of those that were set aside"),
    applied: switchFlag("applied", "List the events that were applied, newest first"),
    type,
    reason,
    from: instant("from", "Only events that were received at this time or later, such as 2026-12-01T09:00:00Z").pipe(
      Flag.optional,
    ),
    to: instant("to", "Only events that were received before this time").pipe(Flag.optional),
    limit,
  },
  Effect.fn("ops.inbox.list")(function* ({ organization, waiting, applied, limit, ...conditions }) {
    if (waiting && applied) return yield* new InvalidState()
    const reader = yield* InboxReader
    const state = waiting ? "waiting" : applied ? "applied" : "quarantined"
    const filter = pickDefined({ organizationId: organization, ...conditions })
    const entries: Array<InboxEntry> = []
    let next: InboxPlace | null | undefined
    do {
      const page = yield* reader.list(state, filter, limit + 1 - entries.length, next)
      entries.push(...page.entries)
      next = page.next
    } while (next !== null && entries.length <= limit)
    const rows = entries.map(toOutput)
    yield* printPage(rows, limit, ["organizationId", "eventId", "type", "receivedAt", "reason", "differing"])
  }),
).pipe(
  Command.withDescription("List the events that were set aside because they could not be applied, oldest first"),
  Command.withExamples([
    { command: "ops inbox list" },
    { command: "ops inbox list --organization org_… --applied --type clinician.account_created" },
  ]),
)

const reasons = reading(
  "reasons",
  { organization: organization.pipe(Flag.optional) },
  Effect.fn("ops.inbox.reasons")(function* ({ organization }) {
    const rows = yield* (yield* InboxReader).reasons(Option.getOrUndefined(organization))
    yield* printList(rows, ["count", "type", "reason", "first", "last"])
  }),
).pipe(Command.withDescription("Count the events that were set aside by type and reason, at most 10,000 of them"))

const hours = reading(
  "hours",
  {
    organization: organization.pipe(Flag.optional),
    last: wholeNumberFlag("last", 1, 744, "How many hours to count, the current one included (default 24)").pipe(
      Flag.withDefault(24),
    ),
  },
  Effect.fn("ops.inbox.hours")(function* ({ organization, last }) {
    const { from, to } = lastHours(yield* Clock.currentTimeMillis, last)
    const rows = yield* (yield* InboxReader).hours(from, to, Option.getOrUndefined(organization))
    yield* printList(rows, ["at", "received", "badSignatures", "refused"])
  }),
).pipe(
  Command.withDescription(
    "Count what partners sent in each of the last hours: what was acknowledged, and what was refused",
  ),
)

const show = revealing(
  "show",
  {
    organization,
    event: Argument.String("event").pipe(Argument.withDescription("The event's id as the partner sent it, evt_…")),
    reveal: switchFlag("reveal", "Show the content as it was sent, with its personal data"),
  },
  Effect.fn("ops.inbox.show")(function* (input) {
    const { body, ...found } = yield* (yield* InboxRepository).find(input.organization, input.event)
    const entry = toOutput(found)
    const content = input.reveal ? body : JSON.stringify(maskContent(body), null, 2)
    yield* print(
      input.reveal ? { ...entry, body } : { ...entry, content },
      () => `${formatRecord(entry)}\n\n${content}`,
    )
  }),
).pipe(Command.withDescription("Show an event that a partner sent: its state, and its content without personal data"))

const replay = changing(
  "replay",
  {
    organization,
    event: Argument.String("event").pipe(
      Argument.withDescription("The id of an event that was set aside, as the partner sent it"),
      Argument.optional,
    ),
    all: switchFlag("all", "Replay every event of the organization that was set aside"),
  },
  Effect.fn("ops.inbox.replay")(function* ({ organization, event, all }) {
    const repository = yield* InboxRepository
    if (Option.isSome(event) === all) return yield* new InvalidSelection()
    const replayed = Option.isSome(event)
      ? yield* Effect.as(repository.replay(organization, event.value), 1)
      : yield* repository.replayAll(organization)
    yield* print({ replayed }, () => formatRecord({ replayed }))
  }),
).pipe(
  Command.withDescription("Apply events again that were set aside, in the order of their receipt"),
  Command.withExamples([
    { command: "ops inbox replay --organization org_… evt_…" },
    { command: "ops inbox replay --organization org_… --all" },
  ]),
)

/** `ops inbox …` */
export const inbox = Command.make("inbox").pipe(
  Command.withDescription("Events that the partners sent"),
  Command.withSubcommands([list, show, reasons, hours, replay]),
  Command.provide(Layer.merge(InboxRepositoryPg, InboxReader.layer)),
)
