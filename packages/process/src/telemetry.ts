import { Cause, Effect, Exit, Layer, Logger, References, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { describeCause } from "./describeCause.ts"
import { BUILD, RELEASE } from "./release.ts"
import { logLevel, otlpEndpoint } from "./settings.ts"

/**
 * Logs JSON lines to standard output at `LOG_LEVEL`, each with the release. Exports traces, metrics and logs if
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
 */
export const telemetry = (serviceName: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const level = Layer.succeed(References.MinimumLogLevel, yield* logLevel)
      const endpoint = yield* otlpEndpoint
      const logs = Layer.mergeAll(
        Logger.layer([Logger.consoleJson]),
        level,
        Layer.succeed(References.CurrentLogAnnotations, { version: RELEASE }),
      )
      // Without a collector, spans would only cost CPU time.
      if (endpoint === null) return Layer.merge(logs, Layer.succeed(References.TracerEnabled, false))
      const redacting = Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, redactingTracer))
      return redacting.pipe(
        Layer.provideMerge(Otlp.layer({ baseUrl: endpoint, resource: resourceOf(serviceName) })),
        Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]),
        Layer.provideMerge(logs),
      )
    }),
  )

const resourceOf = (serviceName: string) => ({
  serviceName,
  serviceVersion: RELEASE,
  attributes: { "vcs.ref.head.revision": BUILD.commit },
})

/** Wraps a tracer so that its spans omit error messages, which may hold an e-mail address or a secret. */
const redactingTracer = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    ...tracer,
    span: (options) => {
      const span = tracer.span(options)
      const end = span.end.bind(span)
      span.end = (endTime, exit) => end(endTime, Exit.isFailure(exit) ? redact(exit.cause) : exit)
      return span
    },
  })

const redact = (cause: Cause.Cause<unknown>): Exit.Exit<unknown, unknown> => {
  if (Cause.hasInterruptsOnly(cause)) return Exit.failCause(cause)
  const [first = "unknown"] = describeCause(cause)
  const [name, ...frames] = first.split("\n")
  const redacted = new Error(name)
  redacted.stack = [name, ...frames].join("\n")
  return Exit.die(redacted)
}
