import type { OperationId } from "@outreach/contract"
import { metricsByLabel } from "@outreach/process/metricsByLabel"
import { type Context, Metric } from "effect"
import type { RequestError } from "./toErrorResponse.ts"

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

const refusals = metricsByLabel("reason", REFUSALS, (attributes) =>
  Metric.counter("outreach_http_refusals_total", {
    description: "Rejected requests and connections, by reason.",
    incremental: true,
    attributes,
  }),
)

export const hitMetrics = {
  queued: Metric.gauge("outreach_hits_queued", { description: "Hits in memory that wait to be stored." }),
  dropped: Metric.counter("outreach_hits_dropped_total", {
    description: "Hits lost because the queue was full.",
    incremental: true,
  }),
}

/** Metrics that are exported from the start, so that their first event shows in a rate. */
export const atStart: ReadonlyArray<Metric.Metric<never, unknown>> = [
  ...Object.values(refusals),
  ...Object.values(hitMetrics),
]

/** Creates functions that count requests and rejections. Labels never contain the caller's text. */
export const requestCounters = (context: Context.Context<never>) => {
  const byRoute = new Map<Route, ReturnType<typeof metricsOf>>()
  const refuse = (reason: Refusal): void => refusals[reason].updateUnsafe(1, context)
  return {
    refuse,
    count: (route: Route, status: number, seconds: number, error: RequestError | undefined): void => {
      const metrics = byRoute.get(route) ?? metricsOf(route)
      byRoute.set(route, metrics)
      const requests = metrics.requests.get(status) ?? requestsOf(route, status)
      metrics.requests.set(status, requests)
      requests.updateUnsafe(1, context)
      metrics.duration.updateUnsafe(seconds, context)
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
  Metric.counter("outreach_http_requests_total", {
    description: "Responses, by operation and status.",
    incremental: true,
    attributes: { operation, status: String(status) },
  })

const refusalOf = (error: RequestError): Refusal | undefined => {
  switch (error._tag) {
    case "Unauthorized":
      return "unauthenticated"
    case "InsufficientScope":
      return "scope"
    case "InvalidSignature":
      return "signature"
    case "RateLimited":
      return error.over === undefined ? "address_rate_limit" : "key_rate_limit"
    default:
      return undefined
  }
}
