import type { OwnedEndpoint } from "@outreach/domain/deliveries/DeliveryLeases"
import { EndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"

/** An enabled endpoint without limits and failures, as its worker reads it. */
export const ownedEndpoint = (number = 1, organization = 1): OwnedEndpoint => ({
  endpointId: `whe_${number}` as EndpointId,
  organizationId: `org_${organization}` as OrganizationId,
  version: 1,
  enabled: true,
  url: EndpointUrl.make("https://partner.test/"),
  ...{ eventTypes: null, maxInFlight: null, perSecond: null, retryStatuses: [], retryDelays: null },
  ...{ disableOnGone: false, disableWhenFailing: true, standardWebhooks: false, headers: [] },
  failures: 0,
  allowance: null,
  probeInMs: 0,
  inFlightElsewhere: 0,
})
