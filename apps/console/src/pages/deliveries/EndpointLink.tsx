import type { ShownUrl } from "@outreach/domain/deliveries/Endpoint"
import type { EndpointId } from "@outreach/domain/Identifier"
import { IdLink } from "../../components/IdLink.tsx"

/** Endpoints by id. */
export type Endpoints = ReadonlyMap<EndpointId, { readonly url: ShownUrl }>

/** Leads to an endpoint, by the host that it calls. */
export const EndpointLink = (props: { readonly id: EndpointId; readonly endpoints: Endpoints }) => {
  const url = props.endpoints.get(props.id)?.url
  return url === undefined ? <IdLink id={props.id} /> : <IdLink id={props.id}>{hostOf(url)}</IdLink>
}

/** Returns the host of an endpoint's URL. */
export const hostOf = (url: ShownUrl): string => URL.parse(url)?.host ?? url
