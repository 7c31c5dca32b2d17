import { Effect, Layer, Logger, References, Tracer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { BUILD, RELEASE } from "./release.ts"
import { samplingTracer } from "./samplingTracer.ts"
import { telemetrySettings } from "./settings.ts"

/** Timeout of the collector. After a timeout, the exporter drops data for a minute. */
const COLLECTOR_LIMIT = "5 seconds"

/**
 * Logs JSON lines to standard output at `LOG_LEVEL`, each with the release. Exports traces, metrics and logs if
 * `OTEL_EXPORTER_OTLP_ENDPOINT` is set: the share `OTEL_TRACES_SAMPLER_ARG` of traces, and all failed or slow ones.
 */
export const telemetry = (serviceName: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { logLevel, otlpEndpoint: endpoint, tracesSampled: ratio } = yield* telemetrySettings
      const logs = Layer.mergeAll(
        Logger.layer([Logger.consoleJson]),
        Layer.succeed(References.MinimumLogLevel, logLevel),
        Layer.succeed(References.CurrentLogAnnotations, { version: RELEASE }),
      )
      // Without a collector, spans would only cost CPU time.
      if (endpoint === null) return Layer.merge(logs, Layer.succeed(References.TracerEnabled, false))
      const sampling = Layer.effect(
        Tracer.Tracer,
        Effect.gen(function* () {
          return samplingTracer(yield* Tracer.Tracer, ratio, yield* Effect.context<never>())
        }),
      )
      return sampling.pipe(
        Layer.provideMerge(Otlp.layer({ baseUrl: endpoint, resource: resourceOf(serviceName) })),
        Layer.provide([OtlpSerialization.layerJson, collectorClient]),
        Layer.provideMerge(logs),
      )
    }),
  )

const resourceOf = (serviceName: string) => ({
  serviceName,
  serviceVersion: RELEASE,
  attributes: { "vcs.ref.head.revision": BUILD.commit },
})

const collectorClient = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transformResponse(
      Effect.timeoutOrElse({ duration: COLLECTOR_LIMIT, orElse: () => Effect.die("The collector doesn't respond.") }),
    ),
  ),
).pipe(Layer.provide(FetchHttpClient.layer))
