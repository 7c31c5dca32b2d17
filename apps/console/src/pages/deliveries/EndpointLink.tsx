import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import type { ShownUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointId, type OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { IdLink } from "../../components/values.tsx"
import { field } from "../../http/inputs.ts"

export type Endpoints = ReadonlyMap<EndpointId, ShownUrl>

/** Reads the addresses of an organization's endpoints, or of all. */
export const readEndpoints = Effect.fnUntraced(function* (organizationId: OrganizationId | undefined) {
  const endpoints = yield* (yield* DeliveryReader).endpoints(organizationId)
  return new Map(endpoints.map(({ id, url }) => [id, url]))
})

export const EndpointLink = (props: { readonly id: EndpointId; readonly endpoints: Endpoints }) => {
  const url = props.endpoints.get(props.id)
  return url === undefined ? <IdLink id={props.id} /> : <IdLink id={props.id}>{hostOf(url)}</IdLink>
}

/** The endpoint that a list is of, and the choices that a page gives. */
export const endpointFilter = field(EndpointId, "Endpoint", { kind: "choice", all: "All" })
export const endpointOptions = (endpoints: Endpoints) => ({
  options: Array.from(endpoints, ([id, url]) => [id, `${hostOf(url)} (…${id.slice(-4)})`] as const),
})

const hostOf = (url: ShownUrl): string => URL.parse(url)?.host ?? url
