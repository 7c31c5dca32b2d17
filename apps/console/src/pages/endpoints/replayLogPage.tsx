import { commaSeparated } from "@outreach/domain/commaSeparated"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { Instant } from "@outreach/domain/Instant"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { flagsOf, formatCounted } from "../../components/format.ts"
import { ActionForm, CheckBoxes, Field, FilterBar } from "../../components/forms.tsx"
import { ForeignText } from "../../components/values.tsx"
import { definePage, pathTo } from "../../http/Route.ts"
import { replayLogAction } from "./endpointActions.tsx"

/** Counts the events of a period, and lets them be sent again. */
export const replayLogPage = definePage({
  path: "/endpoints/:endpoint/replay",
  role: "operator",
  query: { from: Instant, to: Instant, types: commaSeparated(outboundEventTypes) },
  read: Effect.fnUntraced(function* ({ endpoint: id, from, to, types }) {
    const endpoint = yield* (yield* EndpointRepository).find(id)
    const count =
      from === undefined || to === undefined
        ? undefined
        : yield* (yield* ReplayJobQueue).countInLog({ endpointId: id, from, to, ...(types && { eventTypes: types }) })
    const keptFrom = yield* (yield* Partitions).eventsKeptFrom
    const flags = `--from ${from ?? "…"} --to ${to ?? "…"}${flagsOf({ types })}`
    return {
      title: "Send a period of the log again",
      commands: [`ops endpoints replay ${id} ${flags} --dry-run`, `ops endpoints replay ${id} ${flags} --rate 100`],
      body: (
        <>
          <p>
            <a href={`/endpoints/${id}`}>
              <ForeignText>{endpoint.url}</ForeignText>
            </a>{" "}
            gets the events of a period once more, delivered or not, after all its other deliveries.
          </p>
          <FilterBar action={pathTo(replayLogAction, { endpoint: id })} values={{ from, to }}>
            <Field name="from" label="Published at or after" hint="Such as 2026-12-01T09:00:00Z" required />
            <Field name="to" label="Published before" hint="Such as 2026-12-01T17:00:00Z" required />
            <CheckBoxes
              name="types"
              legend="Event types (none: those that it receives)"
              values={outboundEventTypes}
              checked={types}
            />
          </FilterBar>
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
                action={replayLogAction}
                params={{ endpoint: id }}
                hidden={{ from, to, types }}
                label={`Send ${formatCounted(count, "event")}`}
              >
                <Field name="rate" label="Deliveries per second" value="100" inputmode="numeric" size={8} required />
              </ActionForm>
            </>
          )}
        </>
      ),
    }
  }),
})
