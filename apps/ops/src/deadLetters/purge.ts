import { Seconds } from "@outreach/domain/Seconds"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { DeadLetterRepository, type PurgeFilter } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { deadLetterFilter, deadLetterSelector } from "../inputs/deadLetterFilters.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { confirm, NotConfirmed, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { print, printProgress } from "../output/Output.ts"

/** The command line has neither `--older-than` nor `--group`. */
class AgeMissing extends Schema.TaggedError<AgeMissing>()("AgeMissing", {}) {
  override get message(): string {
    return "Dead letters are purged by age or by group: give --older-than, such as --older-than 90d, or --group. --dry-run shows how many would be purged."
  }
}

/** `ops dead-letters purge` */
export const purge = changing(
  "purge",
  {
    ...deadLetterSelector,
    olderThan: parsedFlag("older-than", Seconds, "The minimum age since they became dead letters, such as 90d").pipe(
      Flag.optional,
    ),
    dryRun: switchFlag("dry-run", "Only count them"),
    confirm: Flag.Int("confirm").pipe(
      Flag.withMetavar("count"),
      Flag.withDescription("Purge without a question if there are exactly this many"),
      Flag.optional,
    ),
    yes,
  },
  Effect.fn("ops.dead-letters.purge")(function* (input) {
    const { olderThan, dryRun, confirm: expected, yes } = input
    if (Option.isNone(olderThan) && Option.isNone(input.group)) return yield* new AgeMissing()
    const filter = deadLetterFilter(input)
    const found = yield* (yield* DeadLetterRepository).countOld(
      filter,
      Option.getOrElse(olderThan, () => 0),
    )
    const { before, count, replayed } = found
    const scope = `${formatCount(count, "dead letter")} from before ${before.slice(0, 19).replace("T", " ")} UTC, of which ${replayed} were replayed`
    if (dryRun) return yield* print(found, () => `${scope}, would be purged.`)
    const action = `purge ${scope}, for good`
    const flags = `--confirm ${count}, or --yes for however many,`
    if (Option.isSome(expected) && expected.value !== count) return yield* new NotConfirmed({ action, count, flags })
    yield* confirm(action, { yes: yes || count === 0 || Option.isSome(expected), count, flags })
    const purged = yield* purgeAll(filter, before, count)
    yield* print({ before, purged }, () => `Purged ${formatCount(purged, "dead letter")}.`)
  }),
).pipe(
  Command.withDescription("Delete old dead letters for good, replayed or not"),
  Command.withExamples([
    { command: "ops dead-letters purge --older-than 90d --dry-run" },
    { command: "ops dead-letters purge --older-than 90d --reason rejected --yes" },
    { command: "ops dead-letters purge --group fgr_… --confirm 12" },
  ]),
)

const purgeAll = Effect.fnUntraced(function* (filter: PurgeFilter, before: Timestamp, count: number) {
  const deadLetters = yield* DeadLetterRepository
  const bar = yield* printProgress("Purging", count, { quiet: false })
  return yield* deadLetters.purgeAll(filter, before, bar.advance)
}, Effect.scoped)
