import { DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DEAD_LETTER_REASONS } from "@outreach/domain/deliveries/Delivery"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { DeliveryId, EndpointId, lowestIdentifierAt, OrganizationId } from "@outreach/domain/Identifier"
import { Instant } from "@outreach/domain/Instant"
import { fromUnixMillis, toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { flagsOf } from "../../components/format.ts"
import { Choice, Field, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Chips, LinkLine, Pager, withQuery } from "../../components/lists.tsx"
import { type InputsOf, oneOf, pickDefined } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { Deliveries } from "./Deliveries.tsx"
import { deadLetterCursor, deadLetterFilter, HttpStatus, OutboundType, readDeadLetters } from "./deadLetters.ts"
import { EndpointChoice, readEndpoints } from "./EndpointLink.tsx"
import { OutcomeHistogram, stepOf } from "./OutcomeHistogram.tsx"
import { StatusChips } from "./StatusChips.tsx"

const PAGE_SIZE = 50
const DAY_MS = 86_400_000

/** The states in which a delivery is not a dead letter. */
const LIVE_STATES = ["pending", "sending", "delivered"] as const
/** The states that the list is narrowed to; `dead` stands for dead letters of every reason that were not replayed. */
const STATES = [...LIVE_STATES, "dead", ...DEAD_LETTER_REASONS] as const

const STATE_TITLES: Readonly<Record<(typeof STATES)[number], string>> = {
  pending: "Waiting",
  sending: "Sending",
  delivered: "Delivered",
  dead: "Dead letters",
  rejected: "Rejected",
  exhausted: "Exhausted",
  poison: "Poison",
}

const query = {
  organization: OrganizationId,
  endpoint: EndpointId,
  type: OutboundType,
  state: oneOf(STATES),
  status: HttpStatus,
  from: Instant,
  to: Instant,
  before: DeliveryId,
  after: deadLetterCursor.input,
}

/** `/deliveries`: the outcomes of deliveries over time, and the deliveries of a range. */
export const deliveriesPage = definePage({
  path: "/deliveries",
  query,
  read: (input, { now }) => Effect.map(readList(input, now), contentOf),
})

const readList = Effect.fnUntraced(function* ({ before, after, ...filters }: InputsOf<typeof query>, now: number) {
  const { organization, endpoint, type, state, status } = filters
  const to = filters.to ?? fromUnixMillis(now)
  const from = filters.from ?? fromUnixMillis(toUnixMillis(to) - DAY_MS)
  const scope = pickDefined({ organizationId: organization, endpointId: endpoint })
  const stepSeconds = stepOf(from, to, now)
  const liveState = LIVE_STATES.find((each) => each === state)
  // The status is known of dead letters alone: of a delivery that arrived it says nothing, and another may still arrive.
  const isDead = status !== undefined || (state !== undefined && liveState === undefined)
  const reason = DEAD_LETTER_REASONS.find((each) => each === state)
  const selection = { organization, endpoint, type, reason, status }
  const live = Effect.map(
    (yield* DeliveryReader).page({
      ...scope,
      ...pickDefined({ eventType: type, state: liveState }),
      since: lowestIdentifierAt("delivery", toUnixMillis(from)),
      before: before ?? lowestIdentifierAt("delivery", toUnixMillis(to) + 1),
      limit: PAGE_SIZE,
    }),
    ({ deliveries, next }) => ({ rows: deliveries, next: next === null ? undefined : { before: next } }),
  )
  const dead = readDeadLetters(deadLetterFilter({ ...selection, from, to }), PAGE_SIZE, after)
  const found = yield* Effect.all(
    {
      organizations: (yield* OrganizationReader).list,
      endpoints: readEndpoints(organization),
      outcomes: (yield* DeliveryOutcomeReader).histogram({ ...scope, from, to }, stepSeconds),
      statuses: (yield* FailureGroupReader).statuses(scope),
      list: isDead ? dead : live,
    },
    { concurrency: "unbounded" },
  )
  return { ...found, filters, selection, isDead, from, to, stepSeconds }
})

const contentOf = (view: Effect.Success<ReturnType<typeof readList>>) => {
  const { organizations, endpoints, outcomes, statuses, list, filters, selection, isDead, from, to } = view
  const { endpoint, type, state, status } = filters
  const address = withQuery("/deliveries", filters)
  const replay = withQuery("/dead-letters/replay", { ...selection, from: filters.from, to: filters.to })
  return {
    title: "Deliveries",
    commands: [
      isDead
        ? `ops dead-letters list${flagsOf({ ...selection, from, to })}`
        : `ops deliveries list${flagsOf({ endpoint, state, type, from, to })}`,
    ],
    body: (
      <>
        <FilterBar action="/deliveries" values={filters} hidden={{ state, status }}>
          <OrganizationChoice organizations={organizations} all="All" />
          <EndpointChoice endpoints={endpoints} />
          <Choice name="type" label="Type" all="All" options={outboundEventTypes} />
          <Field name="from" label="From (UTC)" placeholder={`${from.slice(0, 19)}Z`} size={22} />
          <Field name="to" label="Before" placeholder={`${to.slice(0, 19)}Z`} size={22} />
        </FilterBar>
        <OutcomeHistogram
          outcomes={outcomes}
          stepSeconds={view.stepSeconds}
          from={from}
          to={to}
          brush={address}
          deadLetters={withQuery(address, { state: "dead" })}
        />
        <Chips
          label="States"
          chips={[
            {
              text: "All",
              to: withQuery(address, { state: undefined, status: undefined }),
              isChosen: state === undefined && status === undefined,
            },
            ...STATES.map((each) => ({
              text: STATE_TITLES[each],
              to: withQuery(address, {
                state: each,
                ...(LIVE_STATES.some((live) => live === each) && { status: undefined }),
              }),
              isChosen: each === state,
            })),
          ]}
        />
        <StatusChips
          label="Statuses of dead letters"
          statuses={statuses}
          chosen={status}
          address={address}
          needs={isDead ? {} : { state: "dead" }}
        />
        <h2>{isDead ? "Dead letters, by when they died" : "Deliveries, by when they were created"}</h2>
        {isDead && list.rows.length > 0 && <LinkLine to={replay}>Replay this selection</LinkLine>}
        <Deliveries rows={list.rows} endpoints={endpoints} isDead={isDead} isContinued={list.next !== undefined} />
        <Pager next={list.next} />
      </>
    ),
  }
}
