import { telemetry } from "@outreach/process/telemetry"
import { eventually } from "@outreach/testing/eventually"
import { ConfigProvider, Console, Context, Effect, Exit, Layer, Metric, Scope } from "effect"
import { HttpServer } from "effect/http"
import { ApiConfig } from "../src/ApiConfig.ts"
import { api } from "../src/api.ts"
import { WriteInterval } from "../src/http/CallerActivity.ts"
import { settingsFor } from "./spawnApi.ts"

/** The API inside the test's own process. */
export interface RunningApi {
  readonly url: string
  /** Returns where it serves operators. */
  readonly adminUrl: () => Promise<string>
  /** Every line that was logged so far, except those that say where it listens. */
  readonly logs: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** Runs the API in this process as `main.ts` composes it; only what a test ends by a signal needs a process of its own. */
export const runApi = async (
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningApi> => {
  const logs: Array<string> = []
  let adminUrl: string | undefined
  const log = (line: string) => {
    const { message, annotations } = JSON.parse(line)
    if (message === "admin port open") adminUrl = `http://127.0.0.1:${annotations.port}`
    else if (message !== "listening") logs.push(line)
  }
  const surroundings = Layer.mergeAll(
    ConfigProvider.layer(ConfigProvider.fromEnv({ env: settingsFor(databaseUrl, settings) })),
    Layer.succeed(Console.Console, { ...globalThis.console, log } as Console.Console),
    // No test waits for what is counted.
    Layer.succeed(WriteInterval, "50 millis"),
    // Counters of its own, as a process has.
    Layer.sync(Metric.MetricRegistry, () => new Map()),
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
    adminUrl: async () =>
      (await eventually(
        () => adminUrl,
        (url) => url !== undefined,
      ))!,
    logs,
    stop: () => Effect.runPromise(Scope.close(scope, Exit.void)),
  }
}
