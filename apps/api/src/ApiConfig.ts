import { cursorKeyRing } from "@outreach/cursor"
import { wholeNumber } from "@outreach/domain/textSchema"
import { databaseConnections, databaseSettings, standbySettings } from "@outreach/postgres-connection/databaseSettings"
import { setting } from "@outreach/process/setting"
import {
  adminHost,
  connectionsPerAddress,
  cursorKey,
  deployment,
  Host,
  HttpUrl,
  publicBaseUrl,
  secretsKey,
} from "@outreach/process/settings"
import { trustProxy } from "@outreach/process/trustProxy"
import { Config, Context, Duration, Effect, Layer, Redacted } from "effect"

const settings = Config.all({
  database: databaseSettings,
  /** Where reads go first; undefined for the database itself. */
  standby: standbySettings,
  databaseConnections: databaseConnections(12),
  /** `HOST`: the address to listen on. Default `127.0.0.1`. */
  host: setting("HOST", Host, "127.0.0.1"),
  /** `PORT`: the port to listen on; 0 takes any that is free. Default 8080. */
  port: setting("PORT", wholeNumber(0, 65_535, "a port"), "8080"),
  adminHost,
  /** `ADMIN_PORT`: the port that serves operators; 0 takes any that is free. Default 9465. */
  adminPort: setting("ADMIN_PORT", wholeNumber(0, 65_535, "a port"), "9465"),
  trustProxy,
  /** `UNAUTHENTICATED_LIMIT`: how often an address may fail to authenticate in a clock minute, in each process. Default 60. */
  unauthenticatedLimit: setting("UNAUTHENTICATED_LIMIT", wholeNumber(1, 1_000_000), "60"),
  /** `MAX_CONNECTIONS`: connections that are open at once, in each process; a further one is closed at once. Default 8192. */
  maxConnections: setting("MAX_CONNECTIONS", wholeNumber(1, 1_000_000), "8192"),
  /** `IDEMPOTENCY_MIB`: what the stored responses of one organization take together, compressed. Default 256. */
  idempotencyMib: setting("IDEMPOTENCY_MIB", wholeNumber(1, 1_048_576, "MiB"), "256"),
  publicBaseUrl,
  deployment,
  secretsKey,
  cursorKey,
})

/**
 * `SHUTDOWN_DELAY_SECONDS`: how long the process still serves, no longer ready, after the signal to stop, so that a load balancer
 * sees it first. Default 5, and 0 in development.
 */
const shutdownDelay = (deployment: string) =>
  setting("SHUTDOWN_DELAY_SECONDS", wholeNumber(0, 300, "seconds"), deployment === "development" ? "0" : "5")

/** `DOCS_URL`: where the guides are published; the links of errors lead there. Default: `PUBLIC_BASE_URL` and `/docs`. */
const docsUrl = (baseUrl: string) => setting("DOCS_URL", HttpUrl, `${baseUrl}/docs`)

const readConfig = Effect.gen(function* () {
  const { idempotencyMib, cursorKey, ...read } = yield* settings
  return {
    ...read,
    connectionsPerAddress: yield* connectionsPerAddress(read.maxConnections),
    /** The most bytes of responses that are stored for one organization's idempotency keys. */
    maxStoredBytes: idempotencyMib * 1024 * 1024,
    shutdownDelay: Duration.seconds(yield* shutdownDelay(read.deployment)),
    docsUrl: yield* docsUrl(read.publicBaseUrl),
    cursorKey: cursorKeyRing(cursorKey.map(({ key, mark }) => ({ key: Redacted.value(key), id: mark }))),
  }
})

/** The settings that the API reads from its environment, beside those of `telemetry`. */
export class ApiConfig extends Context.Service<ApiConfig, Readonly<Effect.Success<typeof readConfig>>>()(
  "api/ApiConfig",
) {
  static readonly fromEnvironment = Layer.effect(ApiConfig, readConfig)
}
