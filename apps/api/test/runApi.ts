import { telemetry } from "@outreach/process/telemetry"
import { ProcessLog } from "@outreach/testing/ProcessLog"
import { urlIn } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { HttpServer } from "effect/http"
import { ApiConfig } from "../src/ApiConfig.ts"
import { api } from "../src/api.ts"
import { settingsFor } from "./startApiProcess.ts"

/** Runs the API in this process with the composition of `main.ts`. `services` replace those of the runtime, such as the clock. */
export const runApi = async (
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
  services: Layer.Layer<never> = Layer.empty,
) => {
  const log = new ProcessLog()
  const layer = api.pipe(
    Layer.provide(ApiConfig.fromEnvironment),
    Layer.provide(telemetry("outreach-api")),
    Layer.provide(Layer.merge(log.surroundings(settingsFor(databaseUrl, settings)), services)),
  )
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  return {
    url: HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address),
    /** Returns the URL of the admin port. */
    adminUrl: async () => urlIn(await until(log, "admin port open")),
    log,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
