import { Seconds } from "@outreach/domain/Seconds"
import type { Timestamp } from "@outreach/domain/Timestamp"
import {
  DeadLetterRepository,
  type PurgeFilter,
  type PurgePosition,
} from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { changing } from "../audit/Access.ts"
import { deadLetterSelector } from "../inputs/deadLetterFilters.ts"
import { parsedFlag, switchFlag } from "../inputs/parsedInput.ts"
import { pickDefined } from "../inputs/pickDefined.ts"
import { confirm, NotConfirmed, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { print, printProgress } from "../output/Output.ts"

/** The command line lacks `--older-than`. */
class AgeMissing extends Schema.TaggedError<AgeMissing>()("AgeMissing", {}) {
  override get message(): string {
    return "Dead letters are purged by age: give --older-than, such as --older-than 90d. --dry-run shows how many would be purged."
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
  Effect.fn("ops.dead-letters.purge")(function* ({
    endpoint,
    type,
    reason,
    olderThan,
    dryRun,
    confirm: expected,
    yes,
  }) {
    if (Option.isNone(olderThan)) return yield* new AgeMissing()
    const filter = pickDefined({ endpointId: endpoint, eventType: type, reason })
    const found = yield* (yield* DeadLetterRepository).countOld(filter, olderThan.value)
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
  ]),
)

const purgeAll = Effect.fnUntraced(function* (filter: PurgeFilter, before: Timestamp, count: number) {
  const deadLetters = yield* DeadLetterRepository
  const bar = yield* printProgress("Purging", count, { quiet: false })
  let purged = 0
  let after: PurgePosition | null = null
  do {
    const step: { readonly purged: number; readonly next: PurgePosition | null } = yield* deadLetters.purge(
      filter,
      before,
      after,
    )
    purged += step.purged
    after = step.next
    yield* bar.advance(step.purged)
  } while (after !== null)
  return purged
}, Effect.scoped)
