import { attemptsOf, DeliveryOutcomeReader } from "@outreach/backoffice/deliveries/DeliveryOutcomeReader"
import { DeliveryReader, MAX_SLOWEST_SCAN } from "@outreach/backoffice/deliveries/DeliveryReader"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCount, formatShare } from "@outreach/backoffice/format"
import { deadLetterSelector } from "@outreach/backoffice/operations/deadLetters"
import { choice, field, oneOf } from "@outreach/backoffice/operations/Field"
import { organizationFilter, timeRange } from "@outreach/backoffice/operations/fields"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DELIVERY_REASONS } from "@outreach/domain/deliveries/classifyResponse"
import { DEAD_LETTER_REASONS, UNKNOWN_OUTCOME } from "@outreach/domain/deliveries/Delivery"
import { outboundEventTypes } from "@outreach/domain/events/outboundEventTypes"
import { DeliveryId, lowestIdentifierAt } from "@outreach/domain/Identifier"
import { Seconds } from "@outreach/domain/Seconds"
import { fromUnixMillis, type Timestamp, toUnixMillis } from "@outreach/domain/Timestamp"
import { FINE_OUTCOMES_DAYS } from "@outreach/postgres/deliveries/DeliveryOutcomes"
import { Effect, Struct } from "effect"
import { OutcomesChart } from "../../components/charts/Histogram.tsx"
import { FilterBar } from "../../components/forms.tsx"
import { Chips, LinkLine, Page, Pager, withQuery } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { definePage } from "../../http/Route.ts"
import { type InputsOf, pickDefined } from "../../view/inputs.ts"
import { Deliveries, endpointFilter, endpointOptions, readEndpoints, StatusChips } from "./Deliveries.tsx"
import { deadLetterCursor, readDeadLetters } from "./deadLetters.ts"

const PAGE_SIZE = 50
const DAY_MS = 86_400_000

const LIVE_STATES = ["pending", "sending", "delivered", "cancelled"] as const

/** The states of the filter; `dead` includes dead letters of every reason without a replay. */
const STATES: Readonly<Record<(typeof LIVE_STATES | typeof DEAD_LETTER_REASONS)[number] | "dead", string>> = {
  pending: "Pending",
  sending: "Sending",
  delivered: "Delivered",
  cancelled: "Cancelled",
  dead: "Dead letters",
  rejected: "Rejected",
  exhausted: "Attempts exhausted",
  poison: "Worker crashes",
}

const filters = {
  organization: organizationFilter,
  endpoint: endpointFilter,
  type: choice("Type", outboundEventTypes, { all: "All" }),
  state: oneOf(Struct.keys(STATES)),
  status: field(deadLetterSelector.status.schema, "Status", { inputmode: "numeric", size: 4 }),
  outcome: choice("Outcome", [...DELIVERY_REASONS, UNKNOWN_OUTCOME], { all: "All" }),
  "slower-than": field(Seconds, "Slower than", { placeholder: "2s", size: 5 }),
  order: oneOf(["newest", "slowest"]),
  ...timeRange("From", "Before"),
}
const inputs = { ...filters, before: DeliveryId, after: deadLetterCursor.input }

export const deliveriesPage = definePage("/deliveries", {
  forPartners: true,
  inputs,
  run: (input, { now }) => Effect.map(readList(input, now), contentOf),
})

const STEPS_SECONDS = [300, 900, 3600, 4 * 3600, 86_400] as const
/** Maximum number of steps on a screen. */
const MAX_STEPS = 150

/** Returns the step of a histogram for a range in seconds, limited by the resolution of stored outcomes. */
const stepOf = (from: Timestamp, to: Timestamp, now: number): number => {
  const seconds = (toUnixMillis(to) - toUnixMillis(from)) / 1000
  const isFine = toUnixMillis(from) > now - FINE_OUTCOMES_DAYS * 86_400_000
  return STEPS_SECONDS.find((step) => seconds / step <= MAX_STEPS && (isFine || step >= 3600)) ?? STEPS_SECONDS.at(-1)!
}

const readList = Effect.fnUntraced(function* ({ before, after, ...given }: InputsOf<typeof inputs>, now: number) {
  const { organization, endpoint, type, state, status, outcome, "slower-than": slowerThan } = given
  const to = given.to ?? fromUnixMillis(now)
  const from = given.from ?? fromUnixMillis(toUnixMillis(to) - DAY_MS)
  const scope = pickDefined({ organizationId: organization, endpointId: endpoint })
  const stepSeconds = stepOf(from, to, now)
  const isSlowestFirst = given.order === "slowest"
  // Lists that a replay can select are ordered by the time of death. All other lists check the last attempt of each row.
  const isDead =
    state !== undefined &&
    !LIVE_STATES.some((each) => each === state) &&
    !isSlowestFirst &&
    outcome === undefined &&
    slowerThan === undefined
  const reason = DEAD_LETTER_REASONS.find((each) => each === state)
  const selection = { organization, endpoint, type, reason, status }
  const { page, slowest } = yield* DeliveryReader
  const filter = {
    ...scope,
    ...pickDefined({ eventType: type, state, status, outcome, slowerThan }),
    since: lowestIdentifierAt("delivery", toUnixMillis(from)),
    before: before ?? lowestIdentifierAt("delivery", toUnixMillis(to) + 1),
    limit: PAGE_SIZE,
  }
  const live = isSlowestFirst
    ? Effect.map(slowest(filter), (rows) => ({ rows, next: undefined }))
    : Effect.map(page(filter), ({ deliveries, next }) => ({
        rows: deliveries,
        next: next === null ? undefined : { before: next },
      }))
  const dead = readDeadLetters(
    { ...scope, ...pickDefined({ eventType: type, reason, status }), from, to },
    PAGE_SIZE,
    after,
  )
  const found = yield* Effect.all(
    {
      organizations: (yield* OrganizationReader).list,
      endpoints: readEndpoints(organization),
      outcomes: (yield* DeliveryOutcomeReader).histogram({ ...scope, from, to }, stepSeconds),
      statuses: (yield* FailureGroupReader).statuses({ ...scope, state: "dead" }),
      list: isDead ? dead : live,
    },
    { concurrency: "unbounded" },
  )
  return { ...found, given, selection, isDead, from, to, stepSeconds }
})

type View = Effect.Success<ReturnType<typeof readList>>

const contentOf = (view: View) => {
  const { organizations, endpoints, statuses, list, given, selection, isDead, from, to } = view
  const { organization, endpoint, type, state, status, outcome, order = "newest" } = given
  const slowerThan = given["slower-than"] && `${given["slower-than"]}s`
  const address = withQuery("/deliveries", { ...given, "slower-than": slowerThan })
  const replay = withQuery("/dead-letters/replay", { ...selection, from: given.from, to: given.to })
  return (
    <Page
      title="Deliveries"
      commands={[
        isDead
          ? ops("dead-letters list", { ...selection, from, to })
          : ops("deliveries list", {
              organization,
              endpoint,
              state,
              type,
              status,
              outcome,
              "slower-than": slowerThan,
              from,
              to,
              slowest: order === "slowest",
            }),
      ]}
    >
      <FilterBar
        inputs={filters}
        values={{ ...given, "slower-than": slowerThan }}
        controls={{
          organization: { options: organizations },
          endpoint: endpointOptions(endpoints),
          from: { placeholder: `${from.slice(0, 19)}Z` },
          to: { placeholder: `${to.slice(0, 19)}Z` },
        }}
      />
      <Outcomes {...view} address={address} />
      <Chips
        label="States"
        address={address}
        chips={[
          {
            text: "All",
            query: { state: undefined, status: undefined },
            isChosen: state === undefined && status === undefined,
          },
          ...Struct.keys(STATES).map((each) => ({
            text: STATES[each],
            query: { state: each },
            isChosen: each === state,
          })),
        ]}
      />
      <StatusChips
        label="Statuses of dead letters"
        statuses={statuses.map(({ status, open }) => ({ status, count: open }))}
        chosen={status}
        address={address}
        needs={isDead ? {} : { state: "dead" }}
      />
      <Chips
        label="Order"
        address={address}
        chips={[
          { text: "Newest first", query: { order: undefined }, isChosen: order === "newest" },
          {
            text: `Slowest of the newest ${formatCount(MAX_SLOWEST_SCAN)}`,
            query: { order: "slowest" },
            isChosen: order === "slowest",
          },
        ]}
      />
      <h2>{isDead ? "Dead letters by time of failure" : "Deliveries by creation time"}</h2>
      {isDead && list.rows.length > 0 && <LinkLine to={replay}>Replay this selection</LinkLine>}
      <Deliveries rows={list.rows} endpoints={endpoints} isDead={isDead} isContinued={list.next !== undefined} />
      <Pager next={list.next} />
    </Page>
  )
}

const Outcomes = ({ outcomes, stepSeconds, from, to, address }: View & { readonly address: string }) => {
  const sumOf = (count: (step: (typeof outcomes)[number]) => number) =>
    outcomes.reduce((total, each) => total + count(each), 0)
  const attempts = sumOf(attemptsOf)
  const arrived = formatShare(sumOf(({ delivered }) => delivered) / attempts)
  const died = formatCount(sumOf(({ deadLetters }) => deadLetters))
  return (
    <>
      <p>
        {attempts === 0 ? (
          "No attempts in this period."
        ) : (
          <>
            {arrived} of {formatCount(attempts)} attempts succeeded.{" "}
            <a href={withQuery(address, { state: "dead" })}>{died} became dead letters.</a>
          </>
        )}
      </p>
      <OutcomesChart
        title="Attempts by outcome"
        rows={outcomes}
        stepMs={stepSeconds * 1000}
        from={toUnixMillis(from)}
        to={toUnixMillis(to)}
        empty="No calls in this period."
      />
    </>
  )
}
