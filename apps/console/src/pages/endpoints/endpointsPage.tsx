import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Order } from "effect"
import { flagsOf, formatDuration } from "../../components/format.ts"
import { Choice, FilterBar, OrganizationChoice } from "../../components/forms.tsx"
import { Table } from "../../components/lists.tsx"
import { IdLink } from "../../components/values.tsx"
import { oneOf } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { EndpointBadge, endpointState } from "./endpointState.tsx"

const URGENCY = { bad: 0, warning: 1, neutral: 2, good: 2 } as const

/** The endpoints, those that need somebody first. */
export const endpointsPage = definePage({
  path: "/endpoints",
  query: { organization: OrganizationId, state: oneOf(["failing", "disabled"]) },
  read: Effect.fnUntraced(function* ({ organization, state }) {
    const endpoints = (yield* (yield* EndpointRepository).list(organization)).filter(
      ({ enabled, breaker }) =>
        state === undefined || (state === "disabled" ? !enabled : enabled && breaker !== "closed"),
    )
    const organizations = yield* (yield* OrganizationReader).list
    const names = new Map(organizations.map(({ id, name }) => [id, name]))
    const byUrgency = Order.mapInput(
      Order.Number,
      (endpoint: (typeof endpoints)[number]) => URGENCY[endpointState(endpoint).tone],
    )
    return {
      title: "Endpoints",
      commands: [`ops endpoints list${flagsOf({ organization })}`],
      body: (
        <>
          <FilterBar action="/endpoints" values={{ organization, state }}>
            <OrganizationChoice organizations={organizations} all="All" />
            <Choice
              name="state"
              label="State"
              all="All"
              options={[
                ["failing", "Failing"],
                ["disabled", "Disabled"],
              ]}
            />
          </FilterBar>
          <Table
            caption="Webhook endpoints"
            hideCaption
            rows={endpoints.toSorted(byUrgency)}
            empty={
              state === undefined
                ? "No endpoint yet. One is added with ops endpoints create."
                : `No endpoint is ${state}.`
            }
            columns={{
              Address: ({ id, url }) => <IdLink id={id}>{url}</IdLink>,
              Organization: ({ organizationId }) => (
                <IdLink id={organizationId}>{names.get(organizationId) ?? "–"}</IdLink>
              ),
              State: (endpoint) => <EndpointBadge endpoint={endpoint} />,
              "Not read yet": { count: ({ lagEvents }) => lagEvents, cap: LIST_COUNT_CAP },
              "Behind the log": { number: ({ lagSeconds }) => (lagSeconds === 0 ? "–" : formatDuration(lagSeconds)) },
              Waiting: { count: ({ waiting }) => waiting, cap: LIST_COUNT_CAP },
              "In flight": { count: ({ inFlight }) => inFlight },
            }}
          />
        </>
      ),
    }
  }),
})
