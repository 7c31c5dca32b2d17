import { formatCount } from "@outreach/backoffice/format"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { Effect } from "effect"
import { ConfirmLink } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Time } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { EndpointBadge, endpointState } from "../endpoints/endpointsPage.tsx"
import { newPartnerPage } from "../newPages.tsx"

export const partnersPage = definePage("/partners", {
  run: Effect.fnUntraced(function* (_, { operator }) {
    const bound = operator.organizationId ?? undefined
    const organizations = (yield* (yield* OrganizationReader).list).filter(
      ({ id }) => bound === undefined || id === bound,
    )
    const endpoints = yield* (yield* EndpointRepository).list(bound)
    const rows = organizations.map((organization) => ({
      ...organization,
      endpoints: endpoints.filter(({ organizationId }) => organizationId === organization.id),
    }))
    return (
      <Page title="Partners" commands={[ops("organizations list"), ops("organizations show", "org_…")]}>
        {bound === undefined && <ConfirmLink page={newPartnerPage} label="Add an organization" isPrimary />}
        <Table
          label="Partners"
          rows={rows}
          empty="No partners. Add an organization."
          columns={{
            Partner: ({ id, name }) => <IdLink id={id}>{name}</IdLink>,
            Endpoints: ({ endpoints }) => <Endpoints endpoints={endpoints} />,
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
