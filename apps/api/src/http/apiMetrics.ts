import type { OperationId } from "@outreach/contract"
import { counter, counters, gauge } from "@outreach/process/metrics"
import { type Context, Metric } from "effect"
import type { RequestError } from "./RequestError.ts"

/** Route of a request: an operation of the contract, a page, or an unknown path. */
export type Route = OperationId | "page" | "none"

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const REFUSALS = [
  "unauthenticated",
  "scope",
  "signature",
  "key_rate_limit",
  "address_rate_limit",
  "malformed",
  "connection_limit",
  "address_connection_limit",
] as const
type Refusal = (typeof REFUSALS)[number]

export const metrics = {
  refusals: counters("outreach_http_refusals_total", "Rejected requests and connections, by reason.", {
    reason: REFUSALS,
  }),
  hitsQueued: gauge("outreach_hits_queued", "Hits in memory that wait to be stored."),
  hitsDropped: counter("outreach_hits_dropped_total", "Hits lost because the queue was full."),
}

/** Creates functions that count requests and rejections. Labels never contain the caller's text. */
export const requestCounters = (context: Context.Context<never>) => {
  const byRoute = new Map<Route, ReturnType<typeof metricsOf>>()
  const refuse = (reason: Refusal): void => metrics.refusals[reason].updateUnsafe(1, context)
  return {
    refuse,
    count: (route: Route, status: number, seconds: number, error: RequestError | undefined): void => {
      const ofRoute = byRoute.get(route) ?? metricsOf(route)
      byRoute.set(route, ofRoute)
      const requests = ofRoute.requests.get(status) ?? requestsOf(route, status)
      ofRoute.requests.set(status, requests)
      requests.updateUnsafe(1, context)
      ofRoute.duration.updateUnsafe(seconds, context)
      const reason = error && refusalOf(error)
      if (reason !== undefined) refuse(reason)
    },
  }
}

const metricsOf = (operation: Route) => ({
  requests: new Map<number, Metric.Counter<number>>(),
  duration: Metric.histogram("outreach_http_request_duration_seconds", {
    description: "From the headers of a request to its response, by operation.",
    boundaries: SECONDS,
    attributes: { operation },
  }),
})

const requestsOf = (operation: Route, status: number) =>
  counter("outreach_http_requests_total", "Responses, by operation and status.", { operation, status: String(status) })

const REFUSAL_OF: Partial<Record<RequestError["code"], Refusal>> = {
  UNAUTHORIZED: "unauthenticated",
  INSUFFICIENT_SCOPE: "scope",
  INVALID_SIGNATURE: "signature",
}

const refusalOf = ({ code, window }: RequestError): Refusal | undefined => {
  if (code !== "RATE_LIMITED") return REFUSAL_OF[code]
  return window === undefined ? "address_rate_limit" : "key_rate_limit"
}
