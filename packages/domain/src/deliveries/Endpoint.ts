import type { EndpointId, OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** Where an organization receives webhooks. */
export interface Endpoint {
  readonly organizationId: OrganizationId
  readonly id: EndpointId
  readonly url: string
  /** While false its deliveries wait. */
  readonly enabled: boolean
  /** The event types it receives; null for all. */
  readonly eventTypes: ReadonlyArray<string> | null
  readonly createdAt: Timestamp
}

/** Says what is wrong with an endpoint's address, or undefined; http is for deployments that allow private addresses. */
export const checkEndpointUrl = (text: string, allowHttp: boolean): string | undefined => {
  if (!URL.canParse(text)) return "it is no absolute URL"
  const url = new URL(text)
  if (url.protocol !== "https:" && !(allowHttp && url.protocol === "http:")) return "it must begin with https://"
  if (url.username !== "" || url.password !== "") return "it must not hold credentials"
  if (url.hash !== "") return "it must not hold a fragment"
  return undefined
}
