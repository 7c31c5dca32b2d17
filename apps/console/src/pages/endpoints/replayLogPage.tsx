import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { DEFAULT_REPLAYS_PER_SECOND, MAX_REPLAYS_PER_SECOND } from "@outreach/domain/deliveries/ReplayJobQueue"
import { createLogReplay } from "@outreach/domain/deliveries/Replays"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { Instant } from "@outreach/domain/Instant"
import { wholeNumber } from "@outreach/domain/textSchema"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { flagsOf, formatCount, formatCounted } from "../../components/format.ts"
import { ActionForm, FilterBar } from "../../components/forms.tsx"
import { Page } from "../../components/layout.tsx"
import { IdLink } from "../../components/values.tsx"
import { checkBoxes, field, required } from "../../http/inputs.ts"
import { defineAction, definePage } from "../../http/Route.ts"

const path = "/endpoints/:endpoint/replay"

const period = {
  from: field(Instant, "Published at or after", { hint: "Such as 2026-12-01T09:00:00Z", required: true }),
  to: field(Instant, "Published before", { hint: "Such as 2026-12-01T17:00:00Z", required: true }),
  types: checkBoxes("Event types (none: those that it receives)", outboundEventTypes),
}

const page = definePage(path, {
  forPartners: true,
  role: "operator",
  inputs: period,
  run: Effect.fnUntraced(function* ({ endpoint: id, from, to, types }) {
    const endpoint = yield* (yield* EndpointRepository).find(id)
    const count =
      from === undefined || to === undefined
        ? undefined
        : yield* (yield* ReplayReader).countInLog({ endpointId: id, from, to, ...(types && { eventTypes: types }) })
    const keptFrom = yield* (yield* Partitions).eventsKeptFrom
    const flags = `--from ${from ?? "…"} --to ${to ?? "…"}${flagsOf({ types })}`
    return (
      <Page
        title="Send a period of the log again"
        commands={[`ops endpoints replay ${id} ${flags} --dry-run`, `ops endpoints replay ${id} ${flags} --rate 100`]}
      >
        <p>
          <IdLink id={id}>{endpoint.url}</IdLink> gets the events of a period once more, delivered or not, after all its
          other deliveries.
        </p>
        <FilterBar inputs={period} values={{ from, to, types }} />
        {from !== undefined && keptFrom !== null && from < keptFrom && (
          <p class="problem">No events are kept from before {keptFrom.slice(0, 10)} (EVENTS_MONTHS).</p>
        )}
        {count === 0 && <p class="empty">No event was published in this period.</p>}
        {count !== undefined && count > 0 && (
          <>
            <p>
              <strong>{formatCounted(count, "event")}</strong> would be sent.
            </p>
            <ActionForm
              action={replay}
              params={{ endpoint: id }}
              hidden={{ from, to, types }}
              label={`Send ${formatCounted(count, "event")}`}
            />
          </>
        )}
      </Page>
    )
  }),
})

const replay = defineAction(path, "endpoints replay", {
  forPartners: true,
  role: "operator",
  inputs: {
    from: required(Instant),
    to: required(Instant),
    types: period.types.schema,
    rate: required(
      field(wholeNumber(1, MAX_REPLAYS_PER_SECOND, "deliveries per second"), "Deliveries per second", {
        value: DEFAULT_REPLAYS_PER_SECOND,
        inputmode: "numeric",
        size: 8,
      }),
    ),
  },
  run: Effect.fnUntraced(function* ({ endpoint, from, to, types, rate }) {
    const range = { endpointId: endpoint, from, to, ...(types && { eventTypes: types }) }
    const { id, total } = yield* createLogReplay(range, rate)
    return `The replay ${id} sends ${formatCounted(total, "event")}, ${formatCount(rate)} a second.`
  }),
})

export const replayLogRoutes = [page, replay] as const
