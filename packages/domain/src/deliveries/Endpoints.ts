import { Clock, Effect } from "effect"
import { Deployment } from "../Deployment.ts"
import { DescribedError } from "../DescribedError.ts"
import { createIdentifier, type EndpointId } from "../Identifier.ts"
import { parseInput } from "../parseInput.ts"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import { inTransaction, Transaction } from "../Transaction.ts"
import { classifyResponse } from "./classifyResponse.ts"
import { webhookHeaders } from "./Deliveries.ts"
import { type Endpoint, type EndpointSettings, EndpointUrl, PrivateEndpointUrl } from "./Endpoint.ts"
import { EndpointRemoved, EndpointRepository, InvalidEndpointUrl } from "./EndpointRepository.ts"
import { SigningSecretRepository } from "./SigningSecretRepository.ts"
import { rotateSecretWithinBound } from "./SigningSecrets.ts"
import { Signer, WebhookClient } from "./WebhookClient.ts"

interface AddressOptions {
  /** Whether plain http, private addresses and low ports are allowed. */
  readonly allowPrivate: boolean
}

/** Creates an endpoint, and with `ownSecrets` its first secret, which can't be read again. */
export const createEndpoint = Effect.fn("Endpoints.createEndpoint")(function* (
  given: Pick<Endpoint, "organizationId"> &
    Partial<EndpointSettings & Pick<Endpoint, "ownSecrets">> & { readonly url: string; readonly since?: Timestamp },
  options: AddressOptions,
) {
  const url = yield* parseUrl(given.url, options)
  const id = yield* createIdentifier("endpoint")
  const endpoint = yield* (yield* EndpointRepository).create({ ...given, url, id })
  if (!endpoint.ownSecrets) return { endpoint }
  const { secret } = yield* Effect.orDie(rotateSecretWithinBound({ endpointId: id }, 0))
  return { endpoint, secret }
}, inTransaction)

export const updateEndpoint = Effect.fn("Endpoints.updateEndpoint")(function* (
  endpointId: EndpointId,
  { url, ...settings }: Partial<EndpointSettings> & { readonly url?: string },
  { version, ...options }: AddressOptions & { readonly version?: string },
) {
  const endpoints = yield* EndpointRepository
  const changed = url === undefined ? settings : { ...settings, url: yield* parseUrl(url, options) }
  const update = endpoints.update(endpointId, changed, version)
  const isFilterChanged = settings.eventTypes !== undefined
  return yield* (yield* Transaction).run(
    isFilterChanged ? Effect.andThen(endpoints.detachFromLog(endpointId), update) : update,
  )
})

/** Removes an endpoint permanently. Waiting deliveries are cancelled within seconds; calls in flight finish. */
export const removeEndpoint = Effect.fn("Endpoints.removeEndpoint")(
  (endpointId: EndpointId) => EndpointRepository.use(({ remove }) => remove(endpointId)),
  inTransaction,
)

const parseUrl = (url: string, { allowPrivate }: AddressOptions) =>
  Effect.mapError(
    Effect.fromResult(parseInput(allowPrivate ? PrivateEndpointUrl : EndpointUrl)(url)),
    ({ reason }) => new InvalidEndpointUrl({ reason }),
  )

export class NoActiveSecret extends DescribedError(
  "NoActiveSecret",
  "The endpoint {endpointId} has no active signing secret. Rotate its secret to make one.",
) {}

/** Type of a test event. It isn't in the specification, so that receivers ignore it. */
const TEST_EVENT_TYPE = "outreach.endpoint_test"

/** Timeout of the test call, like the worker's default. */
export const TEST_TIMEOUT_MS = 15_000

/** Sends one signed test event to an endpoint, enabled or not. It isn't recorded, and doesn't change the breaker. */
export const testEndpoint = Effect.fn("Endpoints.testEndpoint")(function* (endpointId: EndpointId) {
  const endpoints = yield* EndpointRepository
  const { organizationId, url, standardWebhooks, removedAt } = yield* endpoints.find(endpointId)
  if (removedAt !== null) return yield* new EndpointRemoved({ endpointId, removedAt })
  const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpointId)
  const secrets = owner?.secrets.map(({ secret }) => secret) ?? []
  if (secrets.length === 0) return yield* new NoActiveSecret({ endpointId })
  const { livemode } = yield* Deployment
  const eventId = yield* createIdentifier("event")
  const id = yield* createIdentifier("delivery")
  const started = yield* Clock.currentTimeMillis
  const now = fromUnixMillis(started)
  const envelope = {
    object: "event",
    livemode,
    event_id: eventId,
    event_type: TEST_EVENT_TYPE,
    event_version: 1,
    occurred_at: now,
    emitted_at: now,
    source: "service",
    data: { endpoint_id: endpointId },
    metadata: { test: true },
  }
  const body = new TextEncoder().encode(JSON.stringify(envelope))
  const attempt = { id, eventId, attempt: 1 }
  const headers = webhookHeaders(yield* Signer, attempt, { body, secrets, at: started, standardWebhooks })
  const address = { organizationId, url: yield* endpoints.address(endpointId) }
  const reply = yield* (yield* WebhookClient).post(address, headers, body)
  const latencyMs = (yield* Clock.currentTimeMillis) - started
  const { verdict, reason } = classifyResponse(reply)
  return {
    endpointId,
    url,
    eventId,
    delivered: verdict === "success",
    status: "status" in reply ? reply.status : null,
    outcome: reason,
    latencyMs,
    response: reply.response ?? null,
  }
})
