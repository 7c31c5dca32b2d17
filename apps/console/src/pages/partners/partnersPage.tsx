import { endpointState } from "@outreach/backoffice/deliveries/endpointState"
import { formatCount } from "@outreach/backoffice/format"
import { organizations } from "@outreach/backoffice/lists/organizations"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { Array as Arr, Effect } from "effect"
import { ConfirmLink } from "../../components/forms.tsx"
import { renderValue } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { newPartnerPage } from "../newPages.tsx"

export const partnersRoutes = listPage("/partners", organizations, {
  read: ({ filter: { organizationId } }) =>
    Effect.map(
      EndpointRepository.use(({ list }) => list(organizationId)),
      (all) => ({ endpoints: Arr.groupBy(all, ({ organizationId }) => organizationId) }),
    ),
  cells: {
    endpoints: ({ id }, { endpoints: { [id]: endpoints = [] } }) => (
      <>
        {formatCount(endpoints.length)}{" "}
        {endpoints
          .filter((endpoint) => endpointState(endpoint).tone !== "good")
          .map((endpoint) => renderValue(endpointState(endpoint)))}
      </>
    ),
  },
  around: ({ context }) => ({
    commands: [["organizations show", "org_…"]],
    controls: { organization: false },
    above: context.operator.organizationId === null && <ConfirmLink page={newPartnerPage} isPrimary />,
  }),
})
