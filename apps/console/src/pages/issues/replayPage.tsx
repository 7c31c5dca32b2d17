import { type DeadLetterCount, DeadLetterReader, isGrouped } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { formatCount, formatCounted, formatDuration } from "@outreach/backoffice/format"
import { rate } from "@outreach/backoffice/operations/replays"
import { DEFAULT_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay } from "@outreach/domain/deliveries/Replays"
import { Effect } from "effect"
import { Items, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { EndpointLink, readEndpoints } from "../deliveries/Deliveries.tsx"
import { deadLetterFilter, deadLetterInputs } from "../deliveries/deadLetters.ts"

/** Maximum number of dead letters that the page counts by type or time. */
const MAX_COUNTED = 5000

export const replayRoutes = defineConfirmation("/dead-letters/replay", "dead-letters replay", {
  forPartners: true,
  role: "operator",
  chosen: deadLetterInputs,
  inputs: { rate },
  ask: Effect.fnUntraced(function* (input) {
    const filter = deadLetterFilter(input)
    const deadLetters = yield* DeadLetterReader
    const found = yield* deadLetters.count(filter, MAX_COUNTED)
    const endpoints = yield* readEndpoints(input.organization)
    const total = sumOf(found)
    const looked =
      input.type === undefined
        ? total
        : sumOf(yield* deadLetters.count(deadLetterFilter({ ...input, type: undefined }), MAX_COUNTED))
    const hasMore = !isGrouped(filter) && looked >= MAX_COUNTED
    const atLeast = hasMore ? "at least " : ""
    const selection = { ...input, all: Object.values(input).every((value) => value === undefined) }
    const question = {
      title: "Replay dead letters?",
      back: input.group === undefined ? "/issues" : `/issues/${input.group}`,
      commands: [
        ops("dead-letters replay", { ...selection, "dry-run": true }),
        ops("dead-letters replay", { ...selection, rate: DEFAULT_REPLAYS_PER_SECOND, detach: true }),
      ],
    }
    if (total === 0 && !hasMore) return { ...question, obstacle: "No matching dead letter is left to replay." }
    return {
      ...question,
      many: `${atLeast}${formatCounted(total, "dead letter")}, each from attempt 1. Their history remains.`,
      whom: (
        <Items
          of={[...new Set(found.map(({ endpointId }) => endpointId))].map((id) => (
            <EndpointLink key={id} id={id} endpoints={endpoints} />
          ))}
        />
      ),
      when: `Now, after live events and retries; at ${DEFAULT_REPLAYS_PER_SECOND} per second it takes ${atLeast}${formatDuration(total / DEFAULT_REPLAYS_PER_SECOND)}`,
      facts: {
        "Failed at or after": input.from && <Time at={input.from} />,
        "Failed before": input.to && <Time at={input.to} />,
      },
      label: hasMore ? "Replay all" : `Replay ${formatCount(total)}`,
      children: (
        <Table
          caption={
            hasMore
              ? `Dead letters by endpoint and reason, among the first ${formatCount(MAX_COUNTED)}`
              : "Dead letters by endpoint and reason"
          }
          rows={found}
          columns={{
            Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={endpoints} />,
            Reason: ({ reason }) => reason,
            "Dead letters": { count: ({ count }) => count },
          }}
        />
      ),
    }
  }),
  run: Effect.fnUntraced(function* ({ rate, ...input }) {
    const { total, state } = yield* createDeadLetterReplay(deadLetterFilter(input), rate)
    return {
      to: "/issues",
      notice:
        state === "running"
          ? `${formatCounted(total, "dead letter")} will be replayed at ${formatCount(rate)} per second, in ${formatDuration(total / rate)}. The job is listed below the issues.`
          : "No dead letters were left to replay.",
    }
  }),
})

const sumOf = (counts: ReadonlyArray<DeadLetterCount>): number => counts.reduce((sum, { count }) => sum + count, 0)
