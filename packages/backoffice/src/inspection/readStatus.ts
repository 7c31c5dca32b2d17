import type { EndpointStatus } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import { READINGS } from "@outreach/domain/operators/facts"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import { FactReader, readFacts } from "@outreach/postgres/operators/FactReader"
import { RELEASE } from "@outreach/process/release"
import { Clock, Effect, Record } from "effect"
import { SendingReader } from "../campaigns/SendingReader.ts"
import { DatabaseInspection } from "./DatabaseInspection.ts"

/** Number of endpoints and campaigns that are listed. */
const MAX_SHOWN = 5

export type Status = Effect.Success<typeof readStatus>

/** A campaign that publishes or sends, now or later. */
export type CampaignUnderWay = Status["campaigns"]["newest"][number]

/** Reads the status of a deployment: its facts, load, endpoints and campaigns. */
export const readStatus = Effect.gen(function* () {
  const { readDue } = yield* FactReader
  const { readLoad } = yield* DatabaseInspection
  const { list } = yield* EndpointRepository
  const [load, due, state, endpoints, campaigns] = yield* Effect.all(
    [readLoad, readDue, readFacts(READINGS.state), list(), campaignsUnderWay],
    { concurrency: 2 },
  )
  return {
    at: fromUnixMillis(yield* Clock.currentTimeMillis),
    release: RELEASE,
    database: {
      ...load,
      workers: state.workers,
      horizon: Record.map(state.horizonSeconds, (seconds, holder) => ({
        transactions: state.horizonTransactions[holder],
        seconds,
      })),
      clockAheadSeconds: state.clockAheadSeconds,
    },
    deliveries: {
      due: Record.map(due.deliveriesDue, (count, queue) => ({
        count,
        oldestSeconds: due.deliveriesOldestSeconds[queue],
        maxLagEvents: due.maxLagEvents[queue],
        maxLagSeconds: due.maxLagSeconds[queue],
      })),
      inFlight: due.deliveriesInFlight,
      deadLetters: state.deadLetters,
    },
    endpoints: summarize(endpoints),
    inbox: { count: due.inboxWaiting, oldestSeconds: due.inboxOldestSeconds, setAside: state.inboxQuarantined },
    hits: { count: due.hitsWaiting, oldestSeconds: due.hitsOldestSeconds },
    unsubscriptions: { count: due.unsubscriptionsWaiting, oldestSeconds: due.unsubscriptionsOldestSeconds },
    messages: {
      count: due.messagesDue,
      oldestSeconds: due.messagesOldestSeconds,
      quarantined: state.messagesQuarantined,
    },
    campaigns,
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
