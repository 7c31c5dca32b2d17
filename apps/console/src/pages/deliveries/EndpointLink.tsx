import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import type { ShownUrl } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { Choice } from "../../components/forms.tsx"
import { IdLink } from "../../components/values.tsx"

/** The addresses of endpoints by their ids. */
export type Endpoints = ReadonlyMap<EndpointId, ShownUrl>

/** Reads the addresses of an organization's endpoints, or of all. */
export const readEndpoints = Effect.fnUntraced(function* (organizationId: OrganizationId | undefined) {
  const endpoints = yield* (yield* DeliveryReader).endpoints(organizationId)
  return new Map(endpoints.map(({ id, url }) => [id, url]))
})

/** Leads to an endpoint, by the host that it calls. */
export const EndpointLink = (props: { readonly id: EndpointId; readonly endpoints: Endpoints }) => {
  const url = props.endpoints.get(props.id)
  return url === undefined ? <IdLink id={props.id} /> : <IdLink id={props.id}>{hostOf(url)}</IdLink>
}

export const EndpointChoice = (props: { readonly endpoints: Endpoints }) => (
  <Choice
    name="endpoint"
    label="Endpoint"
    all="All"
    options={Array.from(props.endpoints, ([id, url]) => [id, `${hostOf(url)} (…${id.slice(-4)})`])}
  />
)

const hostOf = (url: ShownUrl): string => URL.parse(url)?.host ?? url
