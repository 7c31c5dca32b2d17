import { Seconds } from "@outreach/domain/Seconds"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { Effect } from "effect"
import { changing } from "../Declaration.ts"
import { deadLetterSelector } from "../inputs/filters.ts"
import { anyInteger, flag, optional, switchFlag } from "../inputs/Input.ts"
import { confirm, notConfirmed, yes } from "../output/confirm.ts"
import { formatCount } from "../output/format.ts"
import { print, printProgress } from "../output/Output.ts"
import { refuse } from "../output/refuse.ts"

/** `ops dead-letters purge` */
export const purge = changing({
  about: "Delete old dead letters for good, replayed or not",
  examples: [
    "ops dead-letters purge --older-than 90d --dry-run",
    "ops dead-letters purge --older-than 90d --reason rejected --yes",
    "ops dead-letters purge --group fgr_… --confirm 12",
  ],
  input: {
    ...deadLetterSelector,
    olderThan: optional(flag(Seconds, "The minimum age since they became dead letters, such as 90d")),
    dryRun: switchFlag("Only count them"),
    confirm: optional(anyInteger("Purge without a question if there are exactly this many", "count")),
    yes,
  },
  *run({ olderThan, dryRun, confirm: expected, yes, ...filter }) {
    if (olderThan === undefined && filter.groupId === undefined) {
      return yield* refuse(
        "AgeMissing",
        "Dead letters are purged by age or by group: give --older-than, such as --older-than 90d, or --group. --dry-run shows how many would be purged.",
      )
    }
    const deadLetters = yield* DeadLetterRepository
    const found = yield* deadLetters.countOld(filter, olderThan ?? 0)
    const { before, count, replayed } = found
    const scope = `${formatCount(count, "dead letter")} from before ${before.slice(0, 19).replace("T", " ")} UTC, of which ${replayed} were replayed`
    if (dryRun) return yield* print(found, () => `${scope}, would be purged.`)
    const action = `purge ${scope}, for good`
    const flags = `--confirm ${count}, or --yes for however many,`
    if (expected !== undefined && expected !== count) return yield* notConfirmed({ action, count, flags })
    yield* confirm(action, { yes: yes || count === 0 || expected !== undefined, count, flags })
    const purged = yield* printProgress("Purging", count).pipe(
      Effect.flatMap(({ advance }) => deadLetters.purgeAll(filter, before, advance)),
      Effect.scoped,
    )
    yield* print({ before, purged }, () => `Purged ${formatCount(purged, "dead letter")}.`)
  },
})
