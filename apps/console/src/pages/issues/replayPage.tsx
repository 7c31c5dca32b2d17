import { type DeadLetterCount, DeadLetterReader, isGrouped } from "@outreach/backoffice/deliveries/DeadLetterReader"
import { DEFAULT_REPLAYS_PER_SECOND, MAX_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createDeadLetterReplay } from "@outreach/domain/deliveries/Replays"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { flagsOf, formatCount, formatCounted, formatDuration } from "../../components/format.ts"
import { ActionForm } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { field, required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { EndpointLink, readEndpoints } from "../deliveries/Deliveries.tsx"
import { deadLetterFilter, deadLetterInputs } from "../deliveries/deadLetters.ts"

/** Among how many dead letters those of a type or a time are counted for the page. */
const MAX_COUNTED = 5000

export const replayPage = definePage("/dead-letters/replay", {
  forPartners: true,
  role: "operator",
  inputs: deadLetterInputs,
  run: Effect.fnUntraced(function* (input) {
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
    const flags = flagsOf(input) || " --all"
    return (
      <Page
        title="Replay dead letters"
        commands={[
          `ops dead-letters replay${flags} --dry-run`,
          `ops dead-letters replay${flags} --rate ${DEFAULT_REPLAYS_PER_SECOND} --detach`,
        ]}
      >
        {total === 0 && !hasMore ? (
          <p class="empty">No dead letter fits that was not replayed yet.</p>
        ) : (
          <>
            <p>
              {hasMore && "At least "}
              {formatCounted(total, "dead letter")} would be delivered again, each from attempt 1, after live events and
              retries. Their history stays. At {DEFAULT_REPLAYS_PER_SECOND} a second it takes {hasMore && "at least "}
              {formatDuration(total / DEFAULT_REPLAYS_PER_SECOND)}.
            </p>
            <Table
              caption={
                hasMore
                  ? `Those among ${formatCount(MAX_COUNTED)} that were looked at, by endpoint and reason`
                  : "Dead letters by endpoint and reason"
              }
              rows={found}
              columns={{
                Endpoint: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={endpoints} />,
                Reason: ({ reason }) => reason,
                "Dead letters": { count: ({ count }) => count },
              }}
            />
            <ActionForm
              action={replayDeadLetters}
              hidden={input}
              label={hasMore ? "Replay all of them" : `Replay ${formatCount(total)}`}
            />
          </>
        )}
      </Page>
    )
  }),
})

const sumOf = (counts: ReadonlyArray<DeadLetterCount>): number => counts.reduce((sum, { count }) => sum + count, 0)

const replayDeadLetters = defineAction("/dead-letters/replay", "dead-letters replay", {
  forPartners: true,
  role: "operator",
  inputs: {
    ...deadLetterInputs,
    rate: required(
      field(wholeNumber(1, MAX_REPLAYS_PER_SECOND), "Deliveries a second", {
        value: DEFAULT_REPLAYS_PER_SECOND,
        inputmode: "numeric",
        size: 6,
        hint: `1 to ${formatCount(MAX_REPLAYS_PER_SECOND)}. A partner that has just recovered takes fewer.`,
      }),
    ),
  },
  run: Effect.fnUntraced(function* ({ rate, ...input }) {
    const { total, state } = yield* createDeadLetterReplay(deadLetterFilter(input), rate)
    return {
      to: "/issues",
      notice:
        state === "running"
          ? `${formatCounted(total, "dead letter")} will be replayed at ${formatCount(rate)} a second, in ${formatDuration(total / rate)}. The job stands below the issues.`
          : "There was nothing left to replay.",
    }
  }),
})

export const replayRoutes = [replayPage, replayDeadLetters] as const
