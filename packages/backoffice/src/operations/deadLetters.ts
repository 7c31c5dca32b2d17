import { DescribedError } from "@outreach/domain/DescribedError"
import type { DeadLetterFilter } from "@outreach/domain/deliveries/DeadLetters"
import { purgeDeadLetters, replayDeadLetters as replayNow } from "@outreach/domain/deliveries/DeadLetters"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { findPresentEndpoint } from "@outreach/domain/deliveries/Endpoints"
import { createDeadLetterReplay, DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/Replays"
import { DeliveryId, type EndpointId } from "@outreach/domain/Identifier"
import { minuteOf, Timestamp } from "@outreach/domain/Timestamp"
import { Seconds, wholeNumber } from "@outreach/domain/textSchema"
import { Effect, Struct } from "effect"
import { type DeadLetterCount, DeadLetterReader, isGrouped } from "../deliveries/DeadLetterReader.ts"
import { DeliveryReader } from "../deliveries/DeliveryReader.ts"
import { describeReplay } from "../deliveries/followReplay.ts"
import { formatCount, formatCounted, formatDuration } from "../format.ts"
import { TaskProgress } from "../TaskProgress.ts"
import { deliveryColumns, describeLastAttempt } from "./deliveries.ts"
import { checkBox, choice, field, filterBy, repeated, timeRange, type ValuesOf } from "./Field.ts"
import { list, time } from "./List.ts"
import { operation } from "./Operation.ts"
import { rate } from "./replays.ts"

/** The fields that select dead letters, except by time. All given ones must match. */
const deadLetterSelector = {
  endpointId: filterBy.endpoint,
  type: filterBy.type,
  reason: choice("Reason", DEAD_LETTER_REASONS, {
    all: "All",
    hint: "Rejected by the endpoint, out of attempts, or several workers crashed",
  }),
  groupId: filterBy.group,
  status: filterBy.status,
  organizationId: filterBy.organization,
}

/** The fields that select dead letters. All given ones must match. */
export const deadLetterFilters = { ...deadLetterSelector, ...timeRange("Failed at or after", "Failed before") }

/** Fails if a filter without results selects a removed endpoint, because its dead letters can't be replayed. */
const checkEndpoint = ({ endpointId }: DeadLetterFilter) =>
  endpointId === undefined ? Effect.void : findPresentEndpoint(endpointId)

export const deadLetters = list("dead-letters list", {
  forPartners: true,
  about: "List the dead letters that weren't replayed, newest first",
  filters: deadLetterFilters,
  cursor: { finishedAt: Timestamp, id: DeliveryId },
  read: (filter, { limit, after, direction }) =>
    DeadLetterReader.use(({ list }) => list(filter, limit + 1, after, direction)),
  whenEmpty: checkEndpoint,
  columns: {
    ...Struct.pick(deliveryColumns, ["id", "endpointId", "eventType", "state", "attempts"]),
    lastOutcome: {
      ...deliveryColumns.lastOutcome,
      isOfConsole: true,
      value: (delivery) => describeLastAttempt(delivery),
      tone: () => "bad",
    },
    lastLatencyMs: { ...deliveryColumns.lastLatencyMs, isOfConsole: true },
    finishedAt: { ...time("Given up"), sort: "desc" },
  },
  empty: "No dead letters. Replayed ones are listed as deliveries.",
  filledBy: null,
})

/** Maximum number of dead letters that a plan counts by type or time. */
const MAX_COUNTED = 5000

class UnclearSelection extends DescribedError(
  "UnclearSelection",
  "Select dead letters in one way: by their ids, by filters such as --endpoint, or with --all. Ids do not go with --dry-run.",
) {}

const selection = {
  ...deadLetterFilters,
  all: checkBox("Every dead letter"),
  deliveryId: repeated(field(DeliveryId, "Ids of dead letters", { isArgument: true })),
}

const toSelection = ({ deliveryId: ids = [], all = false, ...filter }: ValuesOf<typeof selection>) => ({
  ids,
  all,
  filter,
})

/** Returns the selected ids, or the filter. */
const readSelection = (given: ValuesOf<typeof selection>) => {
  const { ids, all, filter } = toSelection(given)
  const ways = [ids.length > 0, all, Object.keys(filter).length > 0]
  return ways.filter(Boolean).length === 1 ? Effect.succeed({ ids, filter }) : Effect.fail(new UnclearSelection())
}

const affectedBy = Effect.fnUntraced(function* ({ groupId, endpointId, organizationId }: DeadLetterFilter) {
  const endpoints = yield* (yield* DeliveryReader).endpoints(organizationId)
  // Several endpoints can have one address.
  const addressOf = (id: EndpointId) => `${endpoints.find((each) => each.id === id)?.url ?? id} (…${id.slice(-4)})`
  const affects =
    groupId !== undefined
      ? { id: groupId, name: "an issue" }
      : endpointId !== undefined
        ? { id: endpointId, name: addressOf(endpointId) }
        : organizationId !== undefined
          ? { id: organizationId, name: "an organization" }
          : { id: "", name: "all organizations" }
  return { affects, addressOf }
})

export const replayDeadLetters = operation("dead-letters replay", {
  role: "operator",
  forPartners: true,
  about:
    "Deliver dead letters again, from attempt 1; their history remains. With filters or --all, as a job of the workers at a steady rate",
  label: "Replay all",
  link: "Replay this selection",
  hasDryRun: true,
  input: { ...selection, rate },
  *plan({ rate = DEFAULT_REPLAYS_PER_SECOND, ...given }) {
    const { ids, all, filter } = toSelection(given)
    if (ids.length > 0 || (all && Object.keys(filter).length > 0)) return yield* new UnclearSelection()
    const { count } = yield* DeadLetterReader
    const counts = yield* count(filter, MAX_COUNTED)
    const total = sumOf(counts)
    const looked = filter.type === undefined ? total : sumOf(yield* count(Struct.omit(filter, ["type"]), MAX_COUNTED))
    const hasMore = !isGrouped(filter) && looked >= MAX_COUNTED
    const atLeast = hasMore ? "at least " : ""
    if (total === 0) yield* checkEndpoint(filter)
    const { affects, addressOf } = yield* affectedBy(filter)
    return {
      title: "Replay dead letters",
      many: `${atLeast}${formatCounted(total, "dead letter")}, each from attempt 1`,
      ...(hasMore ? {} : { count: total }),
      affects,
      when: `Now, after live events and retries; at ${rate} per second it takes ${atLeast}${formatDuration(total / rate)}. Their history remains.`,
      facts: {
        ...(filter.from && { "Failed at or after": { at: filter.from } }),
        ...(filter.to && { "Failed before": { at: filter.to } }),
        ...Object.fromEntries(
          counts.map(({ endpointId, reason, count }) => [`${addressOf(endpointId)}, ${reason}`, formatCount(count)]),
        ),
      },
      values: Object.keys(filter).length === 0 ? { all: true } : {},
      obstacle: total === 0 && !hasMore ? "No matching dead letter is left to replay." : undefined,
    }
  },
  *run({ rate, ...given }) {
    const { ids, filter } = yield* readSelection(given)
    if (ids.length > 0) return { replayed: yield* replayNow(new Set(ids)) }
    const job = yield* createDeadLetterReplay(filter, rate)
    if (job.total === 0) yield* checkEndpoint(filter)
    return job
  },
  replay: (result) => ("total" in result ? result : undefined),
  show: (result) => ["total" in result ? describeReplay(result) : { fields: result }],
  done: (result) => {
    if (!("total" in result)) return `Replayed ${formatCounted(result.replayed, "dead letter")}, starting at attempt 1.`
    const { id, total, state, rate } = result
    return state === "running"
      ? `The replay ${id} sends ${formatCounted(total, "dead letter")} at ${formatCount(rate)} per second, in ${formatDuration(total / rate)}.`
      : "No dead letters were left to replay."
  },
  examples: ["ops dead-letters replay dlv_…", "ops dead-letters replay --endpoint whe_… --reason exhausted --rate 20"],
})

const sumOf = (counts: ReadonlyArray<DeadLetterCount>): number => counts.reduce((sum, { count }) => sum + count, 0)

class AgeMissing extends DescribedError(
  "AgeMissing",
  "Dead letters are removed by age or by group: give --older-than, such as --older-than 90d, or --group. --dry-run shows how many would be removed.",
) {}

class NotConfirmed extends DescribedError(
  "NotConfirmed",
  "Nothing was done: {count} dead letters match, instead of {confirm}.",
) {}

const removal = {
  ...deadLetterSelector,
  olderThan: field(Seconds, "Minimum age", { hint: "Since they became dead letters", example: "90d" }),
  confirm: field(wholeNumber(0, 1e9), "Count", { hint: "Remove without confirmation if exactly this many match" }),
}

const countRemoved = Effect.fnUntraced(function* ({ olderThan, confirm, ...filter }: ValuesOf<typeof removal>) {
  if (olderThan === undefined && filter.groupId === undefined) return yield* new AgeMissing()
  const found = yield* DeadLetterReader.use(({ countOld }) => countOld(filter, olderThan ?? 0))
  const { before, count, replayed } = found
  if (confirm !== undefined && confirm !== count) return yield* new NotConfirmed({ count, confirm })
  const many = `${formatCounted(count, "dead letter")} (${formatCount(replayed)} replayed) from before ${minuteOf(before)}`
  return { filter, before, count, many }
})

export const removeDeadLetters = operation("dead-letters remove", {
  about: "Delete old dead letters, replayed or not",
  label: "Remove permanently",
  isIrreversible: true,
  hasDryRun: true,
  input: removal,
  *plan(given) {
    const { filter, count, many } = yield* countRemoved(given)
    const because = "This can't be undone. The partner doesn't receive those that weren't replayed."
    return {
      title: "Remove dead letters",
      many,
      count,
      affects: (yield* affectedBy(filter)).affects,
      when: "Immediately.",
      caution: count === 0 ? undefined : { word: String(count), because },
      // Dead letters that come of age after the plan aren't removed without confirmation.
      values: { confirm: count },
      obstacle: count === 0 ? "No dead letter matches." : undefined,
    }
  },
  *run(given) {
    const { filter, before, count } = yield* countRemoved(given)
    const { advance } = yield* (yield* TaskProgress).bar("Removing", count)
    const purged = purgeDeadLetters(
      filter,
      before,
      Effect.tap(({ purged }) => advance(purged)),
    )
    return { before, removed: yield* purged }
  },
  done: ({ removed }) => `${formatCounted(removed, "dead letter")} removed.`,
  examples: [
    "ops dead-letters remove --older-than 90d --reason rejected --dry-run",
    "ops dead-letters remove --group fgr_… --confirm 12",
  ],
})
