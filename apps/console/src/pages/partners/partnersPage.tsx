import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { PartnerActivityReader } from "@outreach/backoffice/organizations/PartnerActivityReader"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { Effect } from "effect"
import { formatCount, formatShare } from "../../components/format.ts"
import { AskFirst } from "../../components/forms.tsx"
import { Page, SortOrder, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, StatusBadge, Time, URGENCY } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { EndpointBadge, endpointState } from "../endpoints/endpointsPage.tsx"
import { newPartnerPage } from "./newPartnerPage.tsx"

const HOURS = 24

const REQUESTS = `Requests, ${HOURS} h`

export const partnersPage = definePage("/partners", {
  inputs: { sort: SortOrder },
  run: Effect.fnUntraced(function* ({ sort }, { operator }) {
    const bound = operator.organizationId ?? undefined
    const organizations = (yield* (yield* OrganizationReader).list).filter(
      ({ id }) => bound === undefined || id === bound,
    )
    const endpoints = yield* (yield* EndpointRepository).list(bound)
    const totals = new Map(
      (yield* (yield* PartnerActivityReader).totals(HOURS, bound)).map((total) => [total.organizationId, total]),
    )
    const rows = organizations.map((organization) => ({
      ...organization,
      use: totals.get(organization.id),
      endpoints: endpoints.filter(({ organizationId }) => organizationId === organization.id),
    }))
    return (
      <Page title="Partners" commands={[ops("organizations list"), ops("organizations show", "org_…")]}>
        {bound === undefined && <AskFirst page={newPartnerPage} label="Add an organization" isPrimary />}
        <Table
          label="Partners"
          rows={rows}
          empty="No partner yet: an organization is a partner’s account."
          sort={{
            given: sort,
            by: {
              Partner: ({ name }) => name,
              Endpoints: ({ endpoints }) => Math.min(3, ...endpoints.map((each) => URGENCY[endpointState(each).tone])),
              [REQUESTS]: ({ use }) => use?.requests ?? 0,
              "Share of errors": ({ use }) => (use === undefined ? 0 : use.errors / use.requests),
              "Bad signatures": ({ use }) => use?.badSignatures ?? 0,
              Since: ({ createdAt }) => createdAt,
            },
          }}
          columns={{
            Partner: ({ id, name }) => <IdLink id={id}>{name}</IdLink>,
            Endpoints: ({ endpoints }) => <Endpoints endpoints={endpoints} />,
            [REQUESTS]: { count: ({ use }) => use?.requests ?? 0 },
            "Share of errors": {
              number: ({ use }) => (use === undefined ? "–" : formatShare(use.errors / use.requests)),
            },
            "Bad signatures": {
              number: ({ use: { badSignatures } = { badSignatures: 0 } }) =>
                badSignatures > 0 ? <StatusBadge tone="bad">{formatCount(badSignatures)}</StatusBadge> : "0",
            },
            Since: ({ createdAt }) => <Time at={createdAt} />,
          }}
        />
      </Page>
    )
  }),
})

const Endpoints = (props: { readonly endpoints: ReadonlyArray<EndpointStatus> }) => (
  <>
    {formatCount(props.endpoints.length)}{" "}
    {props.endpoints
      .filter((endpoint) => endpointState(endpoint).tone !== "good")
      .map((endpoint) => (
        <EndpointBadge key={endpoint.id} endpoint={endpoint} />
      ))}
  </>
)
