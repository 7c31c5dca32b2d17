import { telemetry } from "@outreach/process/telemetry"
import { ProcessLog } from "@outreach/testing/ProcessLog"
import { urlIn } from "@outreach/testing/startProcess"
import { until } from "@outreach/testing/until"
import { ConfigProvider, Console, Context, Effect, Exit, Layer, Metric, Scope } from "effect"
import { HttpServer } from "effect/http"
import { ApiConfig } from "../src/ApiConfig.ts"
import { api } from "../src/api.ts"
import { settingsFor } from "./startApiProcess.ts"

/** The API inside the test's process. */
export interface RunningApi {
  readonly url: string
  /** Returns the URL of the admin port. */
  readonly adminUrl: () => Promise<string>
  readonly log: ProcessLog
  readonly stop: () => Promise<void>
}

/** Runs the API in this process with the composition of `main.ts`. `services` replace those of the runtime, such as the clock. */
export const runApi = async (
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
  services: Layer.Layer<never> = Layer.empty,
): Promise<RunningApi> => {
  const log = new ProcessLog()
  const surroundings = Layer.mergeAll(
    ConfigProvider.layer(ConfigProvider.fromEnv({ env: settingsFor(databaseUrl, settings) })),
    Layer.succeed(Console.Console, {
      ...globalThis.console,
      log: (line: string) => log.append(`${line}\n`),
    } as Console.Console),
    // Tests don't wait for the counters.
    // Separate counters for each API, as in a process.
    Layer.sync(Metric.MetricRegistry, () => new Map()),
    services,
  )
  const layer = api.pipe(
    Layer.provide(ApiConfig.fromEnvironment),
    Layer.provide(telemetry("outreach-api")),
    Layer.provide(surroundings),
  )
  const scope = Scope.makeUnsafe()
  const context = await Effect.runPromise(Layer.buildWithScope(layer, scope))
  return {
    url: HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address),
    adminUrl: async () => urlIn(await until(log, "admin port open")),
    log,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
