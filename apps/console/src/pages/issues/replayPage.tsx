import { wholeNumber } from "@outreach/domain/textSchema"
import type { DeadLetterCount } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { DeadLetterRepository, isGrouped } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { DeliveryRepository } from "@outreach/postgres/deliveries/DeliveryRepository"
import { MAX_REPLAYS_PER_SECOND, ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Effect } from "effect"
import { ActionForm } from "../../components/ActionForm.tsx"
import { Empty } from "../../components/Empty.tsx"
import { Field } from "../../components/Field.tsx"
import { formatCount, formatDuration } from "../../components/format.ts"
import { Table } from "../../components/Table.tsx"
import { required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"
import { deadLetterFilter, deadLetterInputs, toFlags, toTexts } from "../deliveries/deliveryFilter.ts"
import { EndpointLink, type Endpoints } from "../deliveries/EndpointLink.tsx"
import { HiddenFields } from "./HiddenFields.tsx"

/** Deliveries a second, unless told. */
const DEFAULT_RATE = 100

/** Among how many dead letters those of a type or a time are counted for the page. */
const MAX_COUNTED = 5000

/** `/dead-letters/replay`: how many dead letters a replay would send again, before it begins. */
export const replayPage = definePage({
  path: "/dead-letters/replay",
  section: "issues",
  role: "operator",
  params: {},
  query: deadLetterInputs,
  read: Effect.fnUntraced(function* (input, { operator }) {
    const filter = deadLetterFilter(input, operator)
    const deadLetters = yield* DeadLetterRepository
    const counts = yield* deadLetters.count(filter, MAX_COUNTED)
    const endpoints: Endpoints = new Map(
      (yield* (yield* DeliveryRepository).endpoints(operator.organizationId ?? undefined)).map((each) => [
        each.id,
        each,
      ]),
    )
    const total = sumOf(counts)
    const looked =
      input.type === undefined
        ? total
        : sumOf(yield* deadLetters.count(deadLetterFilter({ ...input, type: undefined }, operator), MAX_COUNTED))
    const hasMore = !isGrouped(filter) && looked >= MAX_COUNTED
    const flags = toFlags(input) || " --all"
    return {
      title: "Replay dead letters",
      commands: [
        `ops dead-letters replay${flags} --dry-run`,
        `ops dead-letters replay${flags} --rate ${DEFAULT_RATE} --detach`,
      ],
      body:
        total === 0 && !hasMore ? (
          <Empty>No dead letter fits that was not replayed yet.</Empty>
        ) : (
          <>
            <p>
              {hasMore && "At least "}
              {formatCount(total)} {total === 1 ? "dead letter" : "dead letters"} would be delivered again, each from
              attempt 1, after live events and retries. Their history stays. At {DEFAULT_RATE} a second it takes{" "}
              {hasMore && "at least "}
              {formatDuration(total / DEFAULT_RATE)}.
            </p>
            <Table<DeadLetterCount>
              caption={
                hasMore
                  ? `Those among ${formatCount(MAX_COUNTED)} that were looked at, by endpoint and reason`
                  : "Dead letters by endpoint and reason"
              }
              rows={counts}
              empty=""
              columns={[
                {
                  header: "Endpoint",
                  cell: ({ endpointId }) => <EndpointLink id={endpointId} endpoints={endpoints} />,
                },
                { header: "Reason", cell: ({ reason }) => reason },
                { header: "Dead letters", numeric: true, cell: ({ count }) => formatCount(count) },
              ]}
            />
            <ActionForm
              action={replayDeadLetters}
              label={hasMore ? "Replay all of them" : `Replay ${formatCount(total)}`}
            >
              <HiddenFields values={toTexts(input)} />
              <Field
                name="rate"
                label="Deliveries a second"
                value={String(DEFAULT_RATE)}
                inputmode="numeric"
                size={6}
                hint={`1 to ${formatCount(MAX_REPLAYS_PER_SECOND)}. A partner that has just recovered takes fewer.`}
              />
            </ActionForm>
          </>
        ),
    }
  }),
})

const sumOf = (counts: ReadonlyArray<DeadLetterCount>): number => counts.reduce((sum, { count }) => sum + count, 0)

/** Creates a job that delivers dead letters again at a steady rate. */
export const replayDeadLetters = defineAction({
  path: "/dead-letters/replay",
  section: "issues",
  role: "operator",
  command: "dead-letters replay",
  params: {},
  fields: { ...deadLetterInputs, rate: required(wholeNumber(1, MAX_REPLAYS_PER_SECOND)) },
  run: Effect.fnUntraced(function* ({ rate, ...input }, { operator }) {
    const job = yield* (yield* ReplayJobQueue).create(deadLetterFilter(input, operator), rate)
    const items = `${formatCount(job.total)} ${job.total === 1 ? "dead letter" : "dead letters"}`
    return {
      to: "/issues",
      notice:
        job.state === "running"
          ? `${items} will be replayed at ${formatCount(rate)} a second, in ${formatDuration(job.total / rate)}. The job stands below the issues.`
          : "There was nothing left to replay.",
    }
  }),
})
