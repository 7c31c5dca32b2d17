import { DEAD_LETTER_REASONS, type DeliverySummary } from "@outreach/domain/deliveries/Delivery"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { DeliveryId, EndpointId, lowestIdentifierAt, OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { fromUnixMillis, toUnixMillis } from "@outreach/domain/Timestamp"
import { DeadLetterRepository } from "@outreach/postgres/deliveries/DeadLetterRepository"
import { DeliveryOutcomes } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { DeliveryRepository } from "@outreach/postgres/deliveries/DeliveryRepository"
import { FailureGroups } from "@outreach/postgres/deliveries/FailureGroups"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Schema } from "effect"
import { Choice, Field, FilterBar } from "../../components/Field.tsx"
import { formatCount } from "../../components/format.ts"
import { OrganizationChoice } from "../../components/OrganizationChoice.tsx"
import { Pager, withQuery } from "../../components/Pager.tsx"
import { definePage } from "../../http/Route.ts"
import { Chips } from "./Chips.tsx"
import { Deliveries } from "./Deliveries.tsx"
import {
  deadLetterFilter,
  deadLetterPlace,
  defined,
  HttpStatus,
  OutboundType,
  Place,
  toFlags,
  toPlace,
  toTexts,
} from "./deliveryFilter.ts"
import { type Endpoints, hostOf } from "./EndpointLink.tsx"
import { OutcomeHistogram, stepOf } from "./OutcomeHistogram.tsx"

const PAGE_SIZE = 50
const DAY_MS = 86_400_000

/** The states that the list is narrowed to; `dead` stands for dead letters of every reason that were not replayed. */
const STATES = ["pending", "sending", "delivered", "dead", ...DEAD_LETTER_REASONS] as const
const State = Schema.Literals(STATES).pipe(Schema.annotate({ expected: STATES.join(", ") }))

const STATE_TITLES: Readonly<Record<(typeof STATES)[number], string>> = {
  pending: "Waiting",
  sending: "Sending",
  delivered: "Delivered",
  dead: "Dead letters",
  rejected: "Rejected",
  exhausted: "Exhausted",
  poison: "Poison",
}

/** `/deliveries`: what came of deliveries over time, and the deliveries of a range. */
export const deliveriesPage = definePage({
  path: "/deliveries",
  section: "deliveries",
  role: "viewer",
  params: {},
  query: {
    organization: OrganizationId,
    endpoint: EndpointId,
    type: OutboundType,
    state: State,
    status: HttpStatus,
    from: Instant,
    to: Instant,
    before: DeliveryId,
    after: Place,
  },
  read: Effect.fnUntraced(function* ({ before, after, ...input }, { operator, now }) {
    const { endpoint, type, state, status } = input
    const organizationId = operator.organizationId ?? input.organization
    const to = input.to ?? fromUnixMillis(now)
    const from = input.from ?? fromUnixMillis(toUnixMillis(to) - DAY_MS)
    const scope = defined({ organizationId, endpointId: endpoint })
    const stepSeconds = stepOf(from, to, now)
    // The status is known of dead letters alone: of a delivery that arrived it says nothing, and another may still arrive.
    const isDead = status !== undefined || (state !== undefined && !["pending", "sending", "delivered"].includes(state))
    const reason = DEAD_LETTER_REASONS.find((each) => each === state)
    const deadInput = { ...input, group: undefined, reason, from, to }

    const deliveries = yield* DeliveryRepository
    const listDead = Effect.map(
      (yield* DeadLetterRepository).list(
        deadLetterFilter(deadInput, operator),
        PAGE_SIZE + 1,
        after === undefined ? null : deadLetterPlace(after),
      ),
      (rows) => {
        const last = rows[PAGE_SIZE] && rows[PAGE_SIZE - 1]
        return { rows: rows.slice(0, PAGE_SIZE), next: last && { after: toPlace(last.finishedAt!, last.id) } }
      },
    )
    const listAll = Effect.map(
      deliveries.page({
        ...scope,
        ...defined({ eventType: type, state: state as DeliverySummary["state"] | undefined }),
        since: lowestIdentifierAt("delivery", toUnixMillis(from)),
        before: before ?? lowestIdentifierAt("delivery", toUnixMillis(to) + 1),
        limit: PAGE_SIZE,
      }),
      (page) => ({ rows: page.deliveries, next: page.next === null ? undefined : { before: page.next } }),
    )
    const [organizations, endpoints, outcomes, statuses, list] = yield* Effect.all(
      [
        (yield* OrganizationRepository).list,
        deliveries.endpoints(organizationId),
        (yield* DeliveryOutcomes).histogram({ ...scope, from, to }, stepSeconds),
        (yield* FailureGroups).statuses(scope),
        isDead ? listDead : listAll,
      ],
      { concurrency: "unbounded" },
    )
    const byId: Endpoints = new Map(endpoints.map((each) => [each.id, each]))
    const address = withQuery("/deliveries", toTexts(input))
    const selection = toTexts({ ...deadInput, from: input.from, to: input.to, state: undefined })
    return {
      title: "Deliveries",
      commands: [
        isDead
          ? `ops dead-letters list${toFlags({ organization: organizationId, endpoint, type, reason, status, from, to })}`
          : `ops deliveries list${toFlags({ endpoint, state, type, from, to })}`,
      ],
      body: (
        <>
          <FilterBar action="/deliveries">
            <OrganizationChoice organizations={organizations} value={input.organization} all="All" />
            <Choice
              name="endpoint"
              label="Endpoint"
              value={endpoint}
              options={[
                ["", "All"],
                ...endpoints.map(({ id, url }) => [id, `${hostOf(url)} (…${id.slice(-4)})`] as const),
              ]}
            />
            <Choice
              name="type"
              label="Type"
              value={type}
              options={[["", "All"], ...outboundEventTypes.map((each) => [each, each] as const)]}
            />
            {state !== undefined && <input type="hidden" name="state" value={state} />}
            {status !== undefined && <input type="hidden" name="status" value={status} />}
            <Field name="from" label="From (UTC)" value={input.from} placeholder={`${from.slice(0, 19)}Z`} size={22} />
            <Field name="to" label="Before" value={input.to} placeholder={`${to.slice(0, 19)}Z`} size={22} />
          </FilterBar>
          <OutcomeHistogram
            outcomes={outcomes}
            stepSeconds={stepSeconds}
            from={from}
            to={to}
            brush={address}
            deadLetters={withQuery(address, { state: "dead" })}
          />
          <Chips
            label="States"
            all={{
              text: "All",
              address: withQuery(address, { state: undefined, status: undefined }),
              isChosen: state === undefined && status === undefined,
            }}
            chips={STATES.map((each) => ({
              text: STATE_TITLES[each],
              address: withQuery(address, {
                state: each,
                ...(["pending", "sending", "delivered"].includes(each) && { status: undefined }),
              }),
              isChosen: each === state,
            }))}
          />
          {statuses.length > 0 && (
            <Chips
              label="Statuses of dead letters"
              all={{
                text: "Any status",
                address: withQuery(address, { status: undefined }),
                isChosen: status === undefined,
              }}
              chips={statuses.flatMap((each) =>
                each.status === null
                  ? []
                  : [
                      {
                        text: `${each.status}: ${formatCount(each.open)}`,
                        address: withQuery(address, { status: String(each.status), ...(!isDead && { state: "dead" }) }),
                        isChosen: each.status === status,
                      },
                    ],
              )}
            />
          )}
          <h2>{isDead ? "Dead letters, by when they died" : "Deliveries, by when they were created"}</h2>
          {isDead && list.rows.length > 0 && (
            <p>
              <a href={withQuery("/dead-letters/replay", selection)}>Replay this selection</a>
            </p>
          )}
          <Deliveries rows={list.rows} endpoints={byId} isDead={isDead} isContinued={list.next !== undefined} />
          <Pager address={address} next={list.next} />
        </>
      ),
    }
  }),
})
