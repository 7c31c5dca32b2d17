import { type DeadLetterCount, DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { DeliveryId } from "@outreach/domain/Identifier"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { changing } from "../Declaration.ts"
import { deadLetterFilters } from "../inputs/filters.ts"
import { argument, described, named, several, switchFlag } from "../inputs/Input.ts"
import { replayFlags } from "../inputs/replayFlags.ts"
import { formatCount } from "../output/format.ts"
import { formatRows, print } from "../output/Output.ts"
import { refuse } from "../output/refuse.ts"
import { printWhenEnded } from "./followReplay.ts"

/** Fails for deliveries that are not dead letters, or were replayed before. */
export const notDeadLetters = (deliveryIds: ReadonlyArray<string>, replayed: number) => {
  const done = replayed === 0 ? "" : ` The other ${replayed} were replayed.`
  return refuse("NotDeadLetter", `Not among the dead letters: ${deliveryIds.join(", ")}.${done}`, {
    deliveryIds,
    replayed,
  })
}

/** `ops dead-letters replay` */
export const replay = changing({
  about:
    "Deliver dead letters again, from attempt 1; their history stays. With filters or --all, the workers do it at a steady rate",
  examples: [
    "ops dead-letters replay dlv_…",
    "ops dead-letters replay --endpoint whe_… --reason exhausted --dry-run",
    "ops dead-letters replay --endpoint whe_… --reason exhausted --rate 20",
    "ops dead-letters replay --group fgr_… --rate 20",
  ],
  input: {
    ...deadLetterFilters,
    all: switchFlag("Replay every dead letter"),
    ...replayFlags,
    dryRun: described(replayFlags.dryRun, "Only count them, by endpoint and reason"),
    deliveries: named("delivery", several(argument(DeliveryId, "Ids of dead letters, dlv_…"))),
  },
  *run({ all, rate, dryRun, detach, deliveries, ...filter }) {
    const byIds = deliveries.length > 0
    const ways = [all, byIds, Object.keys(filter).length > 0]
    if (ways.filter(Boolean).length !== 1 || (byIds && (dryRun || detach))) {
      return yield* refuse(
        "UnclearSelection",
        "Select dead letters in one way: by their ids, by filters such as --endpoint, or with --all. Ids do not go with --dry-run or --detach.",
      )
    }
    if (byIds) return yield* replayByIds(new Set(deliveries))
    if (dryRun) return yield* printCounts(yield* DeadLetterReader.use(({ count }) => count(filter)))
    const job = yield* ReplayJobQueue.use(({ create }) => create(filter, rate))
    yield* printWhenEnded(job, { detach, sentence: `Replaying ${formatCount(job.total, "dead letter")} as ${job.id}.` })
  },
})

const replayByIds = Effect.fnUntraced(function* (deliveryIds: ReadonlySet<DeliveryId>) {
  const deadLetters = yield* DeadLetterRepository
  const missed: Array<string> = []
  for (const deliveryId of deliveryIds) {
    if (!(yield* deadLetters.replay(deliveryId))) missed.push(deliveryId)
  }
  const replayed = deliveryIds.size - missed.length
  if (missed.length > 0) return yield* notDeadLetters(missed, replayed)
  yield* print({ replayed }, () => `Replayed ${formatCount(replayed, "dead letter")}.`)
})

/** Prints how many dead letters would be replayed, and a table of the numbers by endpoint and reason. */
const printCounts = (byEndpointAndReason: ReadonlyArray<DeadLetterCount>) => {
  const count = byEndpointAndReason.reduce((sum, { count }) => sum + count, 0)
  const sentence = `${formatCount(count, "dead letter")} would be replayed.`
  const table = () => formatRows(byEndpointAndReason, ["endpointId", "reason", "count"])
  return print({ count, byEndpointAndReason }, () => (count === 0 ? sentence : `${sentence}\n\n${table()}`))
}
