import { parseTraceparent } from "@outreach/domain/TraceContext"
import { Effect, References, Tracer } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

/**
 * Creates the function that answers a request within a span, in the trace that its `traceparent` names.
 *
 * The span is named by the method and the route, `/` with its parameters in braces. It holds nothing else of the address, which may be the token of a link.
 */
export const requestTracer = Effect.map(
  References.TracerEnabled,
  (isTraced) =>
    <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      /** Undefined for an unknown path. */
      routeOf: () => string | undefined,
      answer: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>,
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, E, Exclude<R, Tracer.ParentSpan>> => {
      if (!isTraced)
        return answer as Effect.Effect<HttpServerResponse.HttpServerResponse, E, Exclude<R, Tracer.ParentSpan>>
      const route = routeOf()
      const attributes = { "http.request.method": request.method, ...(route && { "http.route": route }) }
      const parent = parseTraceparent(request.headers["traceparent"])
      const name = route === undefined ? request.method : `${request.method} ${route}`
      return Effect.useSpan(name, { kind: "server", attributes, root: !parent, ...(parent && { parent }) }, (span) =>
        Effect.provideService(answer, Tracer.ParentSpan, span).pipe(
          Effect.tap(({ status, headers }) =>
            Effect.sync(() => {
              span.attribute("http.response.status_code", status)
              if (status >= 500) span.attribute("error.type", String(status))
              const requestId = headers["x-request-id"]
              if (requestId !== undefined) span.attribute("outreach.request.id", requestId)
            }),
          ),
        ),
      )
    },
)
