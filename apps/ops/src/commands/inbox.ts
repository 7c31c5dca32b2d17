import { type InboxEntry, InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { Effect, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { changing, reading, revealing } from "../audit/Access.ts"
import { maskContent } from "../inbox/maskContent.ts"
import { limit, organization } from "../inputs/commonFlags.ts"
import { switchFlag } from "../inputs/parsedInput.ts"
import { formatRecord, print, printPage } from "../output/Output.ts"

/** The command line names neither or both of one event and `--all`. The tag is the failure's `code`, which scripts may read: `one_or_all`. */
class InvalidSelection extends Schema.TaggedError<InvalidSelection>()("OneOrAll", {}) {
  override get message(): string {
    return "Give the id of one event, or --all to replay every event that was set aside."
  }
}

/** Returns an event under the names that scripts read: a quarantined one is `set_aside`. */
const toOutput = ({ quarantinedAt, differing, ...entry }: InboxEntry) => ({
  ...entry,
  state: entry.state === "quarantined" ? "set_aside" : entry.state,
  setAsideAt: quarantinedAt,
  differing,
})

const list = reading(
  "list",
  {
    organization: organization.pipe(Flag.optional),
    waiting: switchFlag("waiting", "List the events that wait to be applied, instead of those that were set aside"),
    limit,
  },
  Effect.fn("ops.inbox.list")(function* (input) {
    const repository = yield* InboxRepository
    const state = input.waiting ? "waiting" : "quarantined"
    const entries = yield* repository.list(state, input.limit + 1, Option.getOrUndefined(input.organization))
    const rows = entries.map(toOutput)
    yield* printPage(rows, input.limit, ["organizationId", "eventId", "type", "receivedAt", "reason", "differing"])
  }),
).pipe(Command.withDescription("List the events that were set aside because they could not be applied, oldest first"))

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
  Command.withSubcommands([list, show, replay]),
  Command.provide(InboxRepositoryPg),
)
