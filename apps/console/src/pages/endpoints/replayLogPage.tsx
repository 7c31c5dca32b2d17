import { commaSeparated } from "@outreach/domain/commaSeparated"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { EndpointId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { ReplayJobQueue } from "@outreach/postgres/deliveries/ReplayJobQueue"
import { Partitions } from "@outreach/postgres/Partitions"
import { Effect } from "effect"
import { ActionForm } from "../../components/ActionForm.tsx"
import { CheckBox, Field, FilterBar } from "../../components/Field.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount } from "../../components/format.ts"
import { definePage, pathTo } from "../../http/Route.ts"
import { replayLogAction } from "./endpointActions.tsx"

/** Counts the events of a period, and lets them be sent again. */
export const replayLogPage = definePage({
  path: "/endpoints/:endpoint/replay",
  section: "endpoints",
  role: "operator",
  params: { endpoint: EndpointId },
  query: { from: Instant, to: Instant, types: commaSeparated(outboundEventTypes) },
  read: Effect.fnUntraced(function* ({ endpoint: id, from, to, types }) {
    const endpoint = yield* (yield* EndpointRepository).find(id)
    const range =
      from === undefined || to === undefined
        ? undefined
        : { endpointId: id, from, to, ...(types && { eventTypes: types }) }
    const count = range === undefined ? undefined : yield* (yield* ReplayJobQueue).countInLog(range)
    const keptFrom = yield* (yield* Partitions).eventsKeptFrom
    const flags = `--from ${from ?? "…"} --to ${to ?? "…"}${types === undefined ? "" : ` --types ${types.join(",")}`}`
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
          <FilterBar action={pathTo(replayLogAction, { endpoint: id })}>
            <Field
              name="from"
              label="Published at or after"
              value={from}
              hint="Such as 2026-12-01T09:00:00Z"
              required
            />
            <Field name="to" label="Published before" value={to} hint="Such as 2026-12-01T17:00:00Z" required />
            <fieldset>
              <legend>Event types (none: those that it receives)</legend>
              {outboundEventTypes.map((type) => (
                <CheckBox key={type} name="types" label={type} value={type} checked={types?.includes(type) ?? false} />
              ))}
            </fieldset>
          </FilterBar>
          {from !== undefined && keptFrom !== null && from < keptFrom && (
            <p class="problem">No events are kept from before {keptFrom.slice(0, 10)} (EVENTS_MONTHS).</p>
          )}
          {count === 0 && <p class="empty">No event was published in this period.</p>}
          {count !== undefined && count > 0 && (
            <>
              <p>
                <strong>{formatCount(count)}</strong> event{count === 1 ? "" : "s"} would be sent.
              </p>
              <ActionForm
                action={replayLogAction}
                params={{ endpoint: id }}
                label={`Send ${formatCount(count)} event${count === 1 ? "" : "s"}`}
              >
                <input type="hidden" name="from" value={from} />
                <input type="hidden" name="to" value={to} />
                {types !== undefined && <input type="hidden" name="types" value={types.join(",")} />}
                <Field name="rate" label="Deliveries per second" value="100" inputmode="numeric" size={8} required />
              </ActionForm>
            </>
          )}
        </>
      ),
    }
  }),
})
