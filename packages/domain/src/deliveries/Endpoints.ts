import { Effect } from "effect"
import { createIdentifier, type EndpointId, type OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"
import { checkEndpointUrl, type Endpoint } from "./Endpoint.ts"
import { EndpointRepository, InvalidEndpointUrl } from "./EndpointRepository.ts"

interface AddressOptions {
  /** Whether plain http, private addresses and low ports may be used. */
  readonly allowPrivate: boolean
}

/** Creates an endpoint. It receives what is published from now on, or what was published at `since` or later. */
export const createEndpoint = Effect.fn("Endpoints.createEndpoint")(function* (
  endpoint: {
    readonly organizationId: OrganizationId
    readonly url: string
    readonly eventTypes: ReadonlyArray<string> | null
    readonly since?: Timestamp
  },
  { allowPrivate }: AddressOptions,
) {
  yield* assertUrl(endpoint.url, allowPrivate)
  return yield* (yield* EndpointRepository).create({ ...endpoint, id: yield* createIdentifier("endpoint") })
})

/** Changes what is given of an endpoint. */
export const updateEndpoint = Effect.fn("Endpoints.updateEndpoint")(function* (
  endpointId: EndpointId,
  changes: Partial<Pick<Endpoint, "url" | "eventTypes" | "maxInFlight">>,
  { allowPrivate }: AddressOptions,
) {
  if (changes.url !== undefined) yield* assertUrl(changes.url, allowPrivate)
  return yield* (yield* EndpointRepository).update(endpointId, changes)
})

const assertUrl = Effect.fnUntraced(function* (url: string, allowPrivate: boolean) {
  const reason = checkEndpointUrl(url, allowPrivate)
  if (reason !== undefined) return yield* new InvalidEndpointUrl({ reason })
})
