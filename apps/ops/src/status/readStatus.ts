import { SendingReader } from "@outreach/backoffice/campaigns/SendingReader"
import { DatabaseInspection } from "@outreach/backoffice/inspection/DatabaseInspection"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { DeliveryGauges } from "@outreach/postgres/deliveries/DeliveryGauges"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { RELEASE } from "@outreach/process/release"
import { Clock, Effect, Layer } from "effect"
import { database } from "../database.ts"

/** The services for the status, on a separate connection. */
export const statusServices = Layer.mergeAll(
  DatabaseInspection.layer,
  DeliveryGauges.layer,
  EndpointRepositoryPg,
  SendingReader.layer,
).pipe(Layer.provide(database))

/** Number of endpoints and campaigns that are listed. */
const MAX_SHOWN = 5

export type Status = Effect.Success<typeof readStatus>

/** A campaign that publishes or sends, now or later. */
export type CampaignUnderWay = Status["campaigns"]["newest"][number]

/** Reads the status of a deployment, with the queries of the metrics and the other commands. */
export const readStatus = Effect.gen(function* () {
  const { readDue, readState } = yield* DeliveryGauges
  const { readLoad } = yield* DatabaseInspection
  const endpoints = yield* EndpointRepository
  const reading = yield* Effect.all(
    { load: readLoad, due: readDue, state: readState, endpoints: endpoints.list(), campaigns: campaignsUnderWay },
    { concurrency: 2 },
  )
  const { due, state } = reading
  return {
    at: fromUnixMillis(yield* Clock.currentTimeMillis),
    release: RELEASE,
    database: { ...reading.load, horizon: state.horizon, clockAheadSeconds: state.clockAheadSeconds },
    deliveries: { due: due.deliveries, inFlight: due.inFlight, deadLetters: state.deadLetters },
    endpoints: summarize(reading.endpoints),
    inbox: { ...due.inbox, setAside: state.inboxQuarantined },
    hits: due.hits,
    unsubscriptions: due.unsubscriptions,
    messages: { ...due.messages, quarantined: state.messagesQuarantined },
    campaigns: reading.campaigns,
  }
})

const campaignsUnderWay = Effect.gen(function* () {
  const { count, newest } = yield* SendingReader.use(({ underWay }) => underWay(MAX_SHOWN))
  return {
    underWay: count,
    newest: newest.map(({ id, name, status, progress, pauses }) => ({
      ...{ id, name, status, progress },
      // The recipient domains that it currently pauses.
      pausedDomains: pauses.length,
    })),
  }
})

/** Counts the endpoints, the enabled ones by the state of their breaker, and names those that have waited longest. */
const summarize = (endpoints: ReadonlyArray<EndpointStatus>) => {
  const enabled = { closed: 0, open: 0, probing: 0, recovering: 0 }
  for (const endpoint of endpoints) if (endpoint.enabled) enabled[endpoint.breaker]++
  return {
    disabled: endpoints.filter((endpoint) => !endpoint.enabled).length,
    enabled,
    worst: endpoints
      .filter((endpoint) => endpoint.enabled && (endpoint.lagSeconds > 0 || endpoint.breaker !== "closed"))
      .toSorted((a, b) => b.lagSeconds - a.lagSeconds)
      .slice(0, MAX_SHOWN)
      .map(({ id, breaker, lagEvents, lagSeconds, waiting }) => ({ id, breaker, lagEvents, lagSeconds, waiting })),
  }
}
