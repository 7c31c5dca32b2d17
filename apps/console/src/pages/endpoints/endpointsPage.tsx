import { LIST_COUNT_CAP } from "@outreach/domain/countCaps"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { OrganizationId } from "@outreach/domain/Identifier"
import { OrganizationRepository } from "@outreach/postgres/organizations/OrganizationRepository"
import { Effect, Order, Schema } from "effect"
import { Choice, FilterBar } from "../../components/Field.tsx"
import { formatCapped, formatCount, formatDuration } from "../../components/format.ts"
import { IdLink } from "../../components/IdLink.tsx"
import { Table } from "../../components/Table.tsx"
import { definePage } from "../../http/Route.ts"
import { EndpointBadge, endpointState } from "./endpointState.tsx"

const URGENCY = { bad: 0, warning: 1, neutral: 2, good: 2 } as const

/** The endpoints, those that need somebody first. */
export const endpointsPage = definePage({
  path: "/endpoints",
  section: "endpoints",
  role: "viewer",
  params: {},
  query: {
    organization: OrganizationId,
    state: Schema.Literals(["failing", "disabled"]).annotate({ expected: "failing or disabled" }),
  },
  read: Effect.fnUntraced(function* ({ organization, state }, { operator }) {
    const organizationId = operator.organizationId ?? organization
    const endpoints = (yield* (yield* EndpointRepository).list(organizationId)).filter(
      ({ enabled, breaker }) =>
        state === undefined || (state === "disabled" ? !enabled : enabled && breaker !== "closed"),
    )
    const organizations = (yield* (yield* OrganizationRepository).list).filter(
      ({ id }) => operator.organizationId === null || id === operator.organizationId,
    )
    const names = new Map(organizations.map(({ id, name }) => [id, name]))
    const byUrgency = Order.mapInput(
      Order.Number,
      (endpoint: (typeof endpoints)[number]) => URGENCY[endpointState(endpoint).tone],
    )
    return {
      title: "Endpoints",
      commands: [`ops endpoints list${organizationId === undefined ? "" : ` --organization ${organizationId}`}`],
      body: (
        <>
          <FilterBar action="/endpoints">
            {organizations.length > 1 && (
              <Choice
                name="organization"
                label="Organization"
                value={organization}
                options={[["", "All"], ...organizations.map(({ id, name }) => [id, name] as const)]}
              />
            )}
            <Choice
              name="state"
              label="State"
              value={state}
              options={[
                ["", "All"],
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
            columns={[
              { header: "Address", cell: ({ id, url }) => <IdLink id={id}>{url}</IdLink> },
              {
                header: "Organization",
                cell: ({ organizationId }) => <IdLink id={organizationId}>{names.get(organizationId) ?? "–"}</IdLink>,
              },
              { header: "State", cell: (endpoint) => <EndpointBadge endpoint={endpoint} /> },
              {
                header: "Not read yet",
                numeric: true,
                cell: ({ lagEvents }) => formatCapped(lagEvents, LIST_COUNT_CAP),
              },
              {
                header: "Behind the log",
                numeric: true,
                cell: ({ lagSeconds }) => (lagSeconds === 0 ? "–" : formatDuration(lagSeconds)),
              },
              { header: "Waiting", numeric: true, cell: ({ waiting }) => formatCapped(waiting, LIST_COUNT_CAP) },
              { header: "In flight", numeric: true, cell: ({ inFlight }) => formatCount(inFlight) },
            ]}
          />
        </>
      ),
    }
  }),
})
