import { type DeadLetterCount, DeadLetterReader } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { formatCounted } from "@outreach/backoffice/format"
import {
  deadLetterFields,
  deadLetterSelector,
  filterOf,
  removeDeadLetters,
  replayDeadLetters,
} from "@outreach/backoffice/operations/deadLetters"
import { field } from "@outreach/backoffice/operations/Field"
import type { DeadLetterFilter } from "@outreach/domain/deliveries/DeadLetterRepository"
import { purgeDeadLetters, replayDeadLetters as replayNow } from "@outreach/domain/deliveries/DeadLetters"
import { findPresentEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { DeliveryId } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { Timestamp } from "@outreach/domain/Timestamp"
import { DeadLetterRepositoryPg } from "@outreach/postgres/deliveries/DeadLetterRepositoryPg"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { ReplayJobQueuePg } from "@outreach/postgres/deliveries/ReplayJobQueuePg"
import { Effect, Layer } from "effect"
import { changing, checkFilter, group, reading } from "../Declaration.ts"
import { printWhenEnded, replayFlags } from "../deadLetters/followReplay.ts"
import { anyInteger, argument, described, named, optional, several, switchFlag } from "../inputs/Input.ts"
import { inputsOf } from "../operationCommand.ts"
import { confirm, formatRows, notConfirmed, print, printProgress, refuse, yes } from "../output/Output.ts"

/** Fails if dead letters of a removed endpoint are selected, because they can't be replayed. */
const checkEndpoint = ({ endpointId }: DeadLetterFilter) =>
  endpointId === undefined ? Effect.void : findPresentEndpoint(endpointId)

const list = reading({
  about: "List the dead letters that were not replayed, newest first",
  input: inputsOf(deadLetterFields),
  cursor: { finishedAt: Timestamp, id: DeliveryId },
  *run(fields, { limit, after }) {
    const filter = filterOf(fields)
    const found = yield* DeadLetterReader.use(({ list }) => list(filter, limit, after))
    if (found.length === 0) yield* checkEndpoint(filter)
    return found
  },
  columns: ["id", "endpointId", "eventType", "state", "attempts", "finishedAt"],
})

const replay = changing({
  about: replayDeadLetters.about,
  examples: replayDeadLetters.examples!,
  input: {
    ...inputsOf(replayDeadLetters.input),
    all: switchFlag("Replay every dead letter"),
    ...replayFlags,
    dryRun: described(replayFlags.dryRun, "Only count them, by endpoint and reason"),
    deliveries: named("delivery", several(argument(DeliveryId, "Ids of dead letters, dlv_…"))),
  },
  *run({ all, rate, dryRun, detach, deliveries, ...fields }) {
    const filter = filterOf(fields)
    const byIds = deliveries.length > 0
    const ways = [all, byIds, Object.keys(filter).length > 0]
    if (ways.filter(Boolean).length !== 1 || (byIds && (dryRun || detach))) {
      return yield* refuse(
        "UnclearSelection",
        "Select dead letters in one way: by their ids, by filters such as --endpoint, or with --all. Ids do not go with --dry-run or --detach.",
      )
    }
    if (byIds) {
      const replayed = yield* replayNow(new Set(deliveries))
      return yield* print({ replayed }, () => `Replayed ${formatCounted(replayed, "dead letter")}.`)
    }
    if (dryRun) {
      const counts = yield* DeadLetterReader.use(({ count }) => count(filter))
      if (counts.length === 0) yield* Effect.andThen(checkFilter(filter), checkEndpoint(filter))
      return yield* printCounts(counts)
    }
    const job = yield* replayDeadLetters.run({ ...fields, rate }, "")
    if (job.total === 0) yield* Effect.andThen(checkFilter(filter), checkEndpoint(filter))
    yield* printWhenEnded(job, { detach })
  },
})

const printCounts = (byEndpointAndReason: ReadonlyArray<DeadLetterCount>) => {
  const count = byEndpointAndReason.reduce((sum, { count }) => sum + count, 0)
  const sentence = `${formatCounted(count, "dead letter")} would be replayed.`
  const table = () => formatRows(byEndpointAndReason, ["endpointId", "reason", "count"])
  return print({ count, byEndpointAndReason }, () => (count === 0 ? sentence : `${sentence}\n\n${table()}`))
}

const remove = changing({
  about: removeDeadLetters.about,
  examples: [
    "ops dead-letters remove --older-than 90d --dry-run",
    "ops dead-letters remove --older-than 90d --reason rejected --yes",
    "ops dead-letters remove --group fgr_… --confirm 12",
  ],
  input: {
    ...inputsOf({
      ...deadLetterSelector,
      olderThan: field(Seconds, "Minimum age", { hint: "Since they became dead letters", example: "90d" }),
    }),
    dryRun: switchFlag("Only count them"),
    confirm: optional(anyInteger("Remove without confirmation if exactly this many match", "count")),
    yes,
  },
  *run({ olderThan, dryRun, confirm: expected, yes, ...fields }) {
    const filter = filterOf(fields)
    if (olderThan === undefined && filter.groupId === undefined) {
      return yield* refuse(
        "AgeMissing",
        "Dead letters are removed by age or by group: give --older-than, such as --older-than 90d, or --group. --dry-run shows how many would be removed.",
      )
    }
    const found = yield* DeadLetterReader.use(({ countOld }) => countOld(filter, olderThan ?? 0))
    const { before, count, replayed } = found
    const scope = `${formatCounted(count, "dead letter")} from before ${before.slice(0, 19).replace("T", " ")} UTC, of which ${replayed} were replayed`
    if (dryRun) return yield* print(found, () => `${scope}, would be removed.`)
    const action = `remove ${scope}, for good`
    const flags = `--confirm ${count}, or --yes for however many,`
    if (expected !== undefined && expected !== count) return yield* notConfirmed({ action, count, flags })
    yield* confirm(action, { yes: yes || count === 0 || expected !== undefined, count, flags })
    const { advance } = yield* printProgress("Removing", count)
    const removed = yield* purgeDeadLetters(
      filter,
      before,
      Effect.tap(({ purged }) => advance(purged)),
    )
    return { before, removed }
  },
  format: ({ removed }) => `Removed ${formatCounted(removed, "dead letter")}.`,
})

export const deadLetters = group({
  about: "Deliveries that were rejected, ran out of attempts, or crashed several workers",
  commands: { list, replay, remove },
  services: Layer.mergeAll(
    ...[DeadLetterReader.layer, DeliveryReader.layer, DeadLetterRepositoryPg, EndpointRepositoryPg, ReplayJobQueuePg],
  ),
})
