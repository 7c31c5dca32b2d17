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
  maxConnections: setting("MAX_CONNECTIONS", wholeNumber(1, 1_000_000), {
    default: "8192",
    about:
      "open connections in each process. The API closes a further connection at once, and keeps idle ones for 75 s",
  }),
  idempotencyMib: setting("IDEMPOTENCY_MIB", wholeNumber(1, 1_048_576, "MiB"), {
    default: "256",
    about:
      "the most that the stored responses of one organization's idempotency keys take together, compressed. Beyond it the oldest are deleted before their 24 hours are over ([operations](operations.md#how-long-data-is-kept))",
  }),
  shutdownDelay: setting("SHUTDOWN_DELAY_SECONDS", wholeNumber(0, 300, "seconds"), {
    otherwise: "`5`, in development `0`",
    about:
      "time for which a stopping process still serves while `/readyz` answers 503, so that the load balancer sees it first. Then it stops listening, and finishes the requests in flight within 20 s",
  }),
  docsUrl: setting("DOCS_URL", HttpUrl, {
    otherwise: "`PUBLIC_BASE_URL` + `/docs`",
    about: "base of the `doc_url` of an error",
  }),
  publicBaseUrl,
  deployment,
  secretsKey,
  cursorKey,
})

const readConfig = Effect.gen(function* () {
  const { idempotencyMib, cursorKey, ...read } = yield* settings
  return {
    ...read,
    connectionsPerAddress: yield* connectionsPerAddress(read.maxConnections),
    /** Maximum bytes of responses stored for the idempotency keys of one organization. */
    maxStoredBytes: idempotencyMib * 1024 * 1024,
    shutdownDelay: Duration.seconds(read.shutdownDelay ?? (read.deployment === "development" ? 0 : 5)),
    docsUrl: read.docsUrl ?? `${read.publicBaseUrl}/docs`,
    cursorKey: cursorKeyRing(cursorKey.map(({ key, mark }) => ({ key: Redacted.value(key), id: mark }))),
  }
})

/** Settings of the API, without those of `telemetry`. */
export class ApiConfig extends Context.Service<ApiConfig, Readonly<Effect.Success<typeof readConfig>>>()(
  "api/ApiConfig",
) {
  static readonly make = readConfig
  static readonly fromEnvironment = Layer.effect(ApiConfig, readConfig)
}
