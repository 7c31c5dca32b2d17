import { ReplayId } from "@outreach/domain/Identifier"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { changing, reading } from "../audit/Access.ts"
import { followReplay, NOUNS, printReplay } from "../deadLetters/followReplay.ts"
import { limit } from "../inputs/commonFlags.ts"
import { parsedArgument } from "../inputs/parsedInput.ts"
import { confirm, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { printPage, printRecord } from "../output/Output.ts"

const job = { replay: parsedArgument("replay", ReplayId, "The replay's id, rpl_…") }

const list = reading(
  "list",
  { limit },
  Effect.fn("ops.replays.list")(function* ({ limit }) {
    const rows = yield* (yield* ReplayJobQueue).list(limit + 1)
    yield* printPage(rows, limit, ["id", "kind", "state", "total", "replayed", "replayedByOthers", "rate", "createdAt"])
  }),
).pipe(Command.withDescription("List the replays, newest first"))

const show = reading(
  "show",
  job,
  Effect.fn("ops.replays.show")(function* ({ replay }) {
    yield* printRecord(yield* (yield* ReplayJobQueue).find(replay))
  }),
).pipe(Command.withDescription("Show a replay: its items and its progress"))

const follow = reading(
  "follow",
  job,
  Effect.fn("ops.replays.follow")(function* ({ replay }) {
    yield* printReplay(yield* followReplay(yield* (yield* ReplayJobQueue).find(replay)))
  }),
).pipe(Command.withDescription("Show a replay's progress until it ends; Ctrl-C leaves it running"))

const cancel = changing(
  "cancel",
  { ...job, yes },
  Effect.fn("ops.replays.cancel")(function* ({ replay, yes }) {
    const replayJobs = yield* ReplayJobQueue
    const { kind, state, total, replayed, replayedByOthers } = yield* replayJobs.find(replay)
    const count = total - replayed - replayedByOthers
    yield* confirm(`cancel replay ${replay} for good, which leaves ${formatCount(count, NOUNS[kind])} of ${total}`, {
      yes: yes || state !== "running",
      count,
    })
    yield* printReplay(yield* replayJobs.cancel(replay))
  }),
).pipe(Command.withDescription("Stop a replay; what it has replayed stays replayed. Asks first, or needs --yes"))

/** `ops replays …` */
export const replays = Command.make("replays").pipe(
  Command.withDescription("Dead letters and events that the workers deliver again"),
  Command.withSubcommands([list, show, follow, cancel]),
  Command.provide(ReplayJobQueue.layer),
)
