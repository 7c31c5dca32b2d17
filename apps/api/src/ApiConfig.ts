import { cursorKeyRing } from "@outreach/cursor"
import { wholeNumber } from "@outreach/domain/textSchema"
import { databaseConnections, databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { setting } from "@outreach/process/setting"
import {
  adminHost,
  adminPort,
  connectionsPerAddress,
  cursorKey,
  deployment,
  HttpUrl,
  host,
  port,
  publicBaseUrl,
  secretsKey,
  unauthenticatedLimit,
} from "@outreach/process/settings"
import { trustProxy } from "@outreach/process/trustProxy"
import { Config, Context, Duration, Effect, Layer, Redacted } from "effect"

const settings = Config.all({
  database: databaseSettings,
  databaseConnections: databaseConnections("api"),
  host,
  port: port("api"),
  adminHost,
  adminPort: adminPort("api"),
  trustProxy,
  unauthenticatedLimit,
  shutdownDelay: setting("SHUTDOWN_DELAY_SECONDS", wholeNumber(0, 300, "seconds"), {
    otherwise: "`5`, in development `0`",
    about:
      "seconds for which a stopping API keeps serving while `/readyz` returns 503, so that the load balancer notices. Then it stops listening and finishes requests within 20 s",
  }),
  docsUrl: setting("DOCS_URL", HttpUrl, {
    otherwise: "`PUBLIC_BASE_URL` + `/docs`",
    about: "base of `doc_url` in errors",
  }),
  publicBaseUrl,
  deployment,
  secretsKey,
  cursorKey,
})

/** Open connections in each process; further ones are closed at once. */
export const MaxConnections = Context.Reference("api/MaxConnections", { defaultValue: () => 8192 })

const readConfig = Effect.gen(function* () {
  const { cursorKey, ...read } = yield* settings
  return {
    ...read,
    connectionsPerAddress: yield* connectionsPerAddress(yield* MaxConnections),
    shutdownDelay: Duration.seconds(read.shutdownDelay ?? (read.deployment === "development" ? 0 : 5)),
    docsUrl: read.docsUrl ?? `${read.publicBaseUrl}/docs`,
    cursorKey: cursorKeyRing(cursorKey.map(({ key, mark }) => ({ key: Redacted.value(key), id: mark }))),
  }
})

/** Settings of the API, without those of `telemetry`. */
export class ApiConfig extends Context.Service<ApiConfig, Readonly<Effect.Success<typeof readConfig>>>()(
  "api/ApiConfig",
) {
  static readonly fromEnvironment = Layer.effect(ApiConfig, readConfig)
}
