import { ReplayReader } from "@outreach/backoffice/deliveries/ReplayReader"
import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { checkBoxes, field } from "@outreach/backoffice/operations/Field"
import { EndpointRemoved, EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createLogReplay } from "@outreach/domain/deliveries/Replays"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { Instant, PastInstant } from "@outreach/domain/Instant"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { FilterBar } from "../../components/forms.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { reject } from "../../http/PageError.ts"
import { rate } from "../deliveries/deadLetters.ts"

const period = {
  from: field(PastInstant, "Published at or after", { kind: "instant", required: true }),
  to: field(Instant, "Published before", { kind: "instant", required: true }),
  types: checkBoxes("Event types (none: its usual types)", outboundEventTypes),
}

export const replayLogRoutes = defineConfirmation("/endpoints/:endpoint/replay", "endpoints replay", {
  forPartners: true,
  role: "operator",
  chosen: period,
  inputs: { rate },
  ask: Effect.fnUntraced(function* ({ endpoint: id, from, to, types }) {
    const { url, removedAt } = yield* (yield* EndpointRepository).find(id)
    const keptFrom = yield* (yield* Partitions).eventsKeptFrom
    const flags = { from: from ?? "…", to: to ?? "…", types }
    const question = {
      title: "Replay a period?",
      back: `/endpoints/${id}`,
      commands: [
        ops("endpoints replay", id, { ...flags, "dry-run": true }),
        ops("endpoints replay", id, { ...flags, rate: 100 }),
      ],
      children: (
        <>
          <h2>Period</h2>
          {from !== undefined && keptFrom !== null && from < keptFrom && (
            <p class="problem">Events before {keptFrom.slice(0, 10)} UTC are deleted (EVENTS_MONTHS).</p>
          )}
          <FilterBar inputs={period} values={{ from, to, types }} />
        </>
      ),
    }
    if (removedAt !== null) {
      return { ...question, obstacle: new EndpointRemoved({ endpointId: id, removedAt }).message }
    }
    if (from === undefined || to === undefined) return { ...question, obstacle: "Choose the period first." }
    const range = { endpointId: id, from, to, ...(types && { eventTypes: types }) }
    const count = yield* (yield* ReplayReader).countInLog(range)
    if (count === 0) return { ...question, obstacle: "No events were published in this period." }
    return {
      ...question,
      many: `${formatCounted(count, "event")}, including those delivered before`,
      whom: <IdLink id={id}>{url}</IdLink>,
      when: (
        <>
          Published from <Time at={from} /> to <Time at={to} />. New deliveries have priority.
        </>
      ),
      label: `Send ${formatCounted(count, "event")}`,
    }
  }),
  run: Effect.fnUntraced(function* ({ endpoint, from, to, types, rate }) {
    if (from === undefined || to === undefined) return yield* reject("NoPeriod", "Choose the period first.")
    const range = { endpointId: endpoint, from, to, ...(types && { eventTypes: types }) }
    const { id, total } = yield* createLogReplay(range, rate)
    return `Replay ${id} started: ${formatCounted(total, "event")} at ${formatCount(rate)} per second.`
  }),
})
