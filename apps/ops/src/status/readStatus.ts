import { DatabaseInspection, type InspectedLoad } from "@outreach/backoffice/inspection/DatabaseInspection"
import { type Campaign, type CampaignProgress, UNDER_WAY } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { fromUnixMillis, type Timestamp } from "@outreach/domain/Timestamp"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { DeliveryGauges, type DueReading, type StateReading } from "@outreach/postgres/deliveries/DeliveryGauges"
import { EndpointRepositoryPg } from "@outreach/postgres/deliveries/EndpointRepositoryPg"
import { RELEASE } from "@outreach/process/release"
import { Clock, Effect, Layer } from "effect"
import { database } from "../database.ts"

/** What the status is read from, on a connection of its own. */
export const statusServices = Layer.mergeAll(
  DatabaseInspection.layer,
  DeliveryGauges.layer,
  EndpointRepositoryPg,
  CampaignRepositoryPg,
).pipe(Layer.provide(database))

/** How many endpoints and campaigns are shown one by one. */
const MAX_SHOWN = 5

/** How a deployment stands. */
export interface Status {
  readonly at: Timestamp
  readonly release: string
  readonly database: InspectedLoad & Pick<StateReading, "horizon" | "clockAheadSeconds">
  readonly deliveries: {
    readonly due: DueReading["deliveries"]
    readonly inFlight: number
    readonly deadLetters: StateReading["deadLetters"]
  }
  readonly endpoints: {
    readonly disabled: number
    /** The enabled ones, by how their breaker stands. */
    readonly enabled: Readonly<Record<EndpointStatus["breaker"], number>>
    /** Of the enabled ones that are behind, those that have waited longest, first. */
    readonly worst: ReadonlyArray<Pick<EndpointStatus, "id" | "breaker" | "lagEvents" | "lagSeconds" | "waiting">>
  }
  readonly inbox: DueReading["inbox"] & { readonly setAside: number }
  readonly hits: DueReading["hits"]
  readonly unsubscriptions: DueReading["unsubscriptions"]
  readonly messages: DueReading["messages"] & { readonly quarantined: number }
  /** Those that publish or send, or will: how many, and the newest. */
  readonly campaigns: { readonly underWay: number; readonly newest: ReadonlyArray<CampaignUnderWay> }
}

/** A campaign that publishes or sends, or will. */
export interface CampaignUnderWay extends Pick<Campaign, "id" | "name" | "status"> {
  readonly progress: CampaignProgress
  /** The recipient domains that it leaves alone at present. */
  readonly pausedDomains: number
}

/** Reads how a deployment stands, by the queries that the metrics and the other commands use. */
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
    deliveries: { due: due.deliveries, inFlight: state.inFlight, deadLetters: state.deadLetters },
    endpoints: summarize(reading.endpoints),
    inbox: { ...due.inbox, setAside: state.inboxQuarantined },
    hits: due.hits,
    unsubscriptions: due.unsubscriptions,
    messages: { ...due.messages, quarantined: state.messagesQuarantined },
    campaigns: reading.campaigns,
  } satisfies Status
})

const campaignsUnderWay = Effect.gen(function* () {
  const campaigns = yield* CampaignRepository
  const lists = yield* Effect.forEach(UNDER_WAY, (status) => campaigns.list({ status }, 1000))
  const underWay = lists.flat().toSorted((a, b) => (a.id < b.id ? 1 : -1))
  const newest = yield* Effect.forEach(underWay.slice(0, MAX_SHOWN), ({ id, name, status }) =>
    Effect.map(Effect.all([campaigns.progress(id), campaigns.pauses(id)]), ([progress, pauses]) => ({
      ...{ id, name, status, progress },
      pausedDomains: pauses.length,
    })),
  )
  return { underWay: underWay.length, newest }
})

const summarize = (endpoints: ReadonlyArray<EndpointStatus>): Status["endpoints"] => {
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
