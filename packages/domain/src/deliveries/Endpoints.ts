import { Clock, Context, Effect } from "effect"
import { COUNT_CAP } from "../countCaps.ts"
import { Deployment } from "../Deployment.ts"
import { type ChangedMeanwhile, DescribedError } from "../DescribedError.ts"
import { serialise } from "../events/Event.ts"
import { createIdentifier, type EndpointId, type OrganizationId } from "../Identifier.ts"
import { monotonicMs } from "../monotonicMs.ts"
import { type OrganizationNotFound, TooManyEndpoints } from "../organizations/Organization.ts"
import { fromUnixMillis, type Timestamp } from "../Timestamp.ts"
import { inTransaction } from "../Transaction.ts"
import { parseInput } from "../textSchema.ts"
import type { CustomHeaders } from "./CustomHeaders.ts"
import { deliveryAttempts } from "./Deliveries.ts"
import { SPECIFIED_SCHEDULE } from "./deliverySchedule.ts"
import {
  type Endpoint,
  type EndpointNotFound,
  EndpointRemoved,
  type EndpointStatus,
  type EndpointUnavailable,
  EndpointUrl,
  PrivateEndpointUrl,
  type SettingChanges,
} from "./Endpoint.ts"
import { createDeadLetterReplay, createReplay, type WaitingDeliveries } from "./Replays.ts"
import { rotateSecretWithinBound, SigningSecretRepository } from "./SigningSecrets.ts"
import { NOT_MADE } from "./settleAttempt.ts"

export class InvalidEndpointUrl extends DescribedError(
  "InvalidEndpointUrl",
  "The endpoint's URL cannot be used: {reason}.",
) {}

export class EndpointRepository extends Context.Service<
  EndpointRepository,
  {
    /**
     * Counts an organization's endpoints that aren't removed, and locks the organization, so that concurrent calls don't exceed its limit. Part
     * of a transaction.
     */
    countLocked(
      organizationId: OrganizationId,
    ): Effect.Effect<{ readonly present: number; readonly maxEndpoints: number }, OrganizationNotFound>
    /** Adds an endpoint. It receives events published from now on, or since `since`. Omitted settings have defaults. */
    create(
      endpoint: Pick<Endpoint, "organizationId" | "id"> &
        SettingChanges &
        Partial<Pick<Endpoint, "ownSecrets">> & {
          readonly url: EndpointUrl
          readonly since?: Timestamp | undefined
        },
    ): Effect.Effect<Endpoint, OrganizationNotFound>
    /** Lists endpoints of one organization or all, oldest first. Default: those that aren't removed. */
    list(organizationId?: OrganizationId, kind?: "present" | "removed"): Effect.Effect<ReadonlyArray<EndpointStatus>>
    /** Finds an endpoint, removed or not. */
    find(endpointId: EndpointId): Effect.Effect<EndpointStatus, EndpointNotFound>
    /** Returns an endpoint's complete URL, which may contain a secret of the partner. Optionally locks the endpoint, as part of a transaction. */
    address(endpointId: EndpointId, isLocked?: boolean): Effect.Effect<EndpointUrl, EndpointNotFound>
    /** Decrypts an endpoint's additional headers; null for none. */
    headers(endpointId: EndpointId): Effect.Effect<CustomHeaders | null>
    /** Creates delivery rows for published, unread events, so that changed event types apply only to later events. Part of the changing transaction. */
    detachFromLog(endpointId: EndpointId): Effect.Effect<void>
    /** Changes the given fields. Failures at an earlier URL no longer count. With a `version`, only that version is changed. Part of a transaction. */
    update(
      endpointId: EndpointId,
      changes: SettingChanges & { readonly url?: EndpointUrl },
      version?: string,
    ): Effect.Effect<Endpoint, EndpointUnavailable | ChangedMeanwhile>
    /** Enables an endpoint. Earlier failures no longer count. */
    enable(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Disables an endpoint for an operator. If the service disabled it before, the time is kept, and it no longer counts as failing. */
    disable(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Removes an endpoint permanently: its own secrets are destroyed, and only the shown part of its URL is kept. Part of a transaction. */
    remove(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Cancels some waiting deliveries of removed endpoints. Returns their number, 0 when done. */
    readonly endRemoved: Effect.Effect<number>
    /** Deletes some removed endpoints without history. Returns their number, 0 when done. */
    forgetRemoved(historyDays: number): Effect.Effect<number>
  }
>()("domain/deliveries/EndpointRepository") {}

/** Whether endpoints may have plain http, private addresses and low ports. */
export class PrivateAddressesAllowed extends Context.Reference<boolean>("domain/deliveries/PrivateAddressesAllowed", {
  defaultValue: () => false,
}) {}

/** Creates an endpoint within the organization's limit, and with `ownSecrets` its first secret, which can't be read again. */
export const createEndpoint = Effect.fn("Endpoints.createEndpoint")(function* (
  given: Pick<Endpoint, "organizationId"> &
    Partial<Pick<Endpoint, "ownSecrets">> &
    SettingChanges & { readonly url: string; readonly since?: Timestamp | undefined },
) {
  const url = yield* parseUrl(given.url)
  const endpoints = yield* EndpointRepository
  const { present, maxEndpoints } = yield* endpoints.countLocked(given.organizationId)
  if (present >= maxEndpoints) return yield* new TooManyEndpoints({ maxEndpoints })
  const id = yield* createIdentifier("endpoint")
  const endpoint = yield* endpoints.create({ ...given, url, id })
  if (!endpoint.ownSecrets) return { endpoint }
  const { secret } = yield* Effect.orDie(rotateSecretWithinBound({ endpointId: id }, 0))
  return { endpoint, secret }
}, inTransaction)

export class HeadersNeeded extends DescribedError(
  "HeadersNeeded",
  "The new address has another origin: enter the headers ({names}) again, or none, so that it doesn't receive their values by mistake.",
) {}

export const updateEndpoint = Effect.fn("Endpoints.updateEndpoint")(function* (
  endpointId: EndpointId,
  { url, ...settings }: SettingChanges & { readonly url?: string | undefined },
  version?: string,
) {
  const endpoints = yield* EndpointRepository
  const next = url === undefined ? undefined : yield* parseUrl(url)
  const previous = next && (yield* endpoints.address(endpointId, true))
  if (settings.eventTypes !== undefined) yield* endpoints.detachFromLog(endpointId)
  const updated = yield* endpoints.update(endpointId, { ...settings, ...(next && { url: next }) }, version)
  // Another origin, for example an attacker's, must not receive the values of earlier headers.
  const isMoved = next !== undefined && new URL(next).origin !== new URL(previous!).origin
  if (isMoved && settings.headers === undefined && updated.headers.length > 0) {
    return yield* new HeadersNeeded({ names: updated.headers.join(", ") })
  }
  return updated
}, inTransaction)

/** Finds an endpoint that isn't removed. */
export const findPresentEndpoint = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const endpoint = yield* EndpointRepository.use(({ find }) => find(endpointId))
  const { removedAt } = endpoint
  return removedAt === null ? endpoint : yield* new EndpointRemoved({ endpointId, removedAt })
})

/** Enables an endpoint. With `missed`, first creates the replay of its dead letters since a time, so that they are sent even if the process stops in between. */
export const enableEndpoint = Effect.fn("Endpoints.enableEndpoint")(function* (
  endpointId: EndpointId,
  missed?: { readonly from: Timestamp; readonly rate: number },
) {
  const replay = missed && (yield* createDeadLetterReplay({ endpointId, from: missed.from }, missed.rate))
  const endpoint = yield* EndpointRepository.use(({ enable }) => enable(endpointId))
  return { ...endpoint, replayId: replay?.id ?? null }
})

class EndpointDisabled extends DescribedError(
  "EndpointDisabled",
  "The endpoint {endpointId} is disabled, so its deliveries are queued. Enable it first.",
) {}

/**
 * Creates the job that sends an endpoint's waiting deliveries now. Their attempt counts continue. An open breaker still sends one probe at a time, at
 * most `MAX_PROBE_WAIT_SECONDS` apart; the other deliveries follow when a call succeeds.
 */
export const retryWaiting = Effect.fn("Endpoints.retryWaiting")(function* (waiting: WaitingDeliveries, rate: number) {
  yield* findEnabledEndpoint(waiting.endpointId)
  return yield* createReplay({ kind: "waiting", waiting }, rate)
})

/** Finds an endpoint whose deliveries are sent. */
export const findEnabledEndpoint = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const endpoint = yield* findPresentEndpoint(endpointId)
  return endpoint.enabled ? endpoint : yield* new EndpointDisabled({ endpointId })
})

/** Removes an endpoint permanently. Waiting deliveries are cancelled within seconds; calls in flight finish. */
export const removeEndpoint = Effect.fn("Endpoints.removeEndpoint")(
  (endpointId: EndpointId) => EndpointRepository.use(({ remove }) => remove(endpointId)),
  inTransaction,
)

const parseUrl = Effect.fnUntraced(function* (url: string) {
  const schema = (yield* PrivateAddressesAllowed) ? PrivateEndpointUrl : EndpointUrl
  return yield* Effect.mapError(
    Effect.fromResult(parseInput(schema)(url)),
    ({ reason }) => new InvalidEndpointUrl({ reason }),
  )
})

export class NoActiveSecret extends DescribedError(
  "NoActiveSecret",
  "The endpoint {endpointId} has no active signing secret. Rotate its secret to make one.",
) {}

/** Type of a test event. It isn't in the specification, so that receivers ignore it. */
const TEST_EVENT_TYPE = "outreach.endpoint_test"

/** Timeout of the test call, like the worker's default. */
export const TEST_TIMEOUT_MS = 15_000

/** Maximum number of shown characters of the response. */
const MAX_SHOWN = 500

interface EndpointTest {
  readonly endpointId: string
  readonly url: string
  readonly eventId: string
  readonly status: number | null
  readonly outcome: string
  readonly latencyMs: number
  /** Its start. */
  readonly response: string | null
}

/** Describes the result of a test in one line, without the response. */
export const describeTest = ({ status, outcome, latencyMs }: EndpointTest): string =>
  `${status === null ? "" : `status ${status}, `}${outcome}, after ${latencyMs} ms.`

export class EndpointTestFailed extends DescribedError("EndpointTestFailed", (test: EndpointTest) =>
  NOT_MADE.includes(test.outcome)
    ? `The test event was not sent to ${test.endpointId}, because this service failed: ${describeTest(test)}`
    : `The endpoint ${test.endpointId} did not accept the test event: ${describeTest(test)}`,
) {}

/**
 * Sends one signed test event to an endpoint, enabled or not. It isn't recorded, and doesn't change the breaker. Also returns the number of deliveries
 * that `retryWaiting` would send.
 */
export const testEndpoint = Effect.fn("Endpoints.testEndpoint")(function* (endpointId: EndpointId) {
  const endpoint = yield* findPresentEndpoint(endpointId)
  const { organizationId, url } = endpoint
  const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpointId)
  const secrets = owner?.secrets.map(({ secret }) => secret) ?? []
  if (secrets.length === 0) return yield* new NoActiveSecret({ endpointId })
  const { livemode } = yield* Deployment
  const eventId = yield* createIdentifier("event")
  const clock = yield* Clock.Clock
  const started = yield* Clock.currentTimeMillis
  const event = { id: eventId, type: TEST_EVENT_TYPE, data: { endpoint_id: endpointId }, metadata: { test: true } }
  const delivery = {
    organizationId,
    id: yield* createIdentifier("delivery"),
    endpointId,
    eventId,
    isRow: false,
    body: serialise(event, livemode, fromUnixMillis(started)),
    attempt: 1,
    databaseAheadMs: started - monotonicMs(clock),
  }
  const { address, headers } = yield* readDestination(endpointId)
  const called = { ...endpoint, url: address }
  const attempt = yield* deliveryAttempts
  const result = yield* attempt(delivery, { endpoint: called, schedule: SPECIFIED_SCHEDULE, secrets, headers })
  const { status, outcome, latencyMs, response } = result.attempt
  const test = { endpointId, url, eventId, status, outcome, latencyMs, response: response?.slice(0, MAX_SHOWN) ?? null }
  if (result.settlement !== "delivered") return yield* new EndpointTestFailed(test)
  return { ...test, dueLater: endpoint.enabled ? endpoint.dueLater : 0 }
})

/** Reads an address with its headers. Locked, so that an earlier address doesn't receive the headers of a new one. */
const readDestination = Effect.fnUntraced(function* (endpointId: EndpointId) {
  const endpoints = yield* EndpointRepository
  return { address: yield* endpoints.address(endpointId, true), headers: yield* endpoints.headers(endpointId) }
}, inTransaction)

/** Describes the effects of removing an endpoint, before it is removed. */
export const describeRemoval = (
  endpoint: Pick<EndpointStatus, "lagEvents" | "waiting" | "waitingReplays" | "inFlight">,
): string => {
  const { lagEvents, waiting, waitingReplays, inFlight } = endpoint
  const ended = [
    counted(lagEvents, "event that was not read yet", "events that were not read yet"),
    counted(waiting - lagEvents - waitingReplays, "retry", "retries"),
    counted(waitingReplays, "replay", "replays"),
  ].filter((text) => text !== undefined)
  const waits = ended.length === 0 ? "No deliveries are pending" : `Never sent to it: ${ended.join(", ")}`
  const calls = inFlight === 0 ? "" : `; ${counted(inFlight, "call", "calls")} in flight may still arrive`
  return `${waits}${calls}. Its dead letters and its history stay.`
}

const counted = (count: number, one: string, many: string): string | undefined =>
  count === 0 ? undefined : `${count >= COUNT_CAP ? "at least " : ""}${count} ${count === 1 ? one : many}`
