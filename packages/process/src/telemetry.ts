import { Effect, Layer, Logger, References, Tracer } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp, OtlpSerialization } from "effect/observability"
import { discreetTracer } from "./discreetTracer.ts"
import { RELEASE } from "./release.ts"
import { logLevel, otlpEndpoint } from "./settings.ts"

/** Logs JSON lines, each with the release, to standard output at `LOG_LEVEL`, and exports traces, metrics and logs when `OTEL_EXPORTER_OTLP_ENDPOINT` says where to. */
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
      // Spans that nobody receives would cost all the same.
      if (endpoint === null) return Layer.merge(logs, Layer.succeed(References.TracerEnabled, false))
      const discreet = Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, discreetTracer))
      return discreet.pipe(
        Layer.provideMerge(Otlp.layer({ baseUrl: endpoint, resource: { serviceName, serviceVersion: RELEASE } })),
        Layer.provide([OtlpSerialization.layerJson, FetchHttpClient.layer]),
        Layer.provideMerge(logs),
      )
    }),
  )
