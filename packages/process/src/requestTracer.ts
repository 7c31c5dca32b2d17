import { parseTraceparent } from "@outreach/domain/TraceContext"
import { Effect, References, Tracer } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"

/**
 * Creates the function that handles a request in a span, continuing the trace of its `traceparent`.
 *
 * The span's name is the method and the route with parameters in braces. It contains no other part of the URL, which may include a link's token.
 */
export const requestTracer = Effect.map(
  References.TracerEnabled,
  (isTraced) =>
    <E, R>(
      request: HttpServerRequest.HttpServerRequest,
      /** Undefined for unknown paths. */
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
