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
import { Context, Duration, Effect, Layer, Redacted } from "effect"

/** `HOST`: the address to listen on. Default `127.0.0.1`. */
const host = setting("HOST", Host, "127.0.0.1")

/** `PORT`: the port to listen on; 0 takes any that is free. Default 8080. */
const port = setting("PORT", wholeNumber(0, 65_535, "a port"), "8080")

/** `UNAUTHENTICATED_LIMIT`: how often an address may fail to authenticate in a clock minute, in each process. Default 60. */
const unauthenticatedLimit = setting("UNAUTHENTICATED_LIMIT", wholeNumber(1, 1_000_000), "60")

/** `MAX_CONNECTIONS`: connections that are open at once, in each process; a further one is closed at once. Default 8192. */
const maxConnections = setting("MAX_CONNECTIONS", wholeNumber(1, 1_000_000), "8192")

/** `IDEMPOTENCY_MIB`: what the stored responses of one organization take together, compressed. Default 256. */
const idempotencyMib = setting("IDEMPOTENCY_MIB", wholeNumber(1, 1_048_576, "MiB"), "256")

/** `ADMIN_PORT`: the port that serves operators; 0 takes any that is free. Default 9465. */
const adminPort = setting("ADMIN_PORT", wholeNumber(0, 65_535, "a port"), "9465")

/**
 * `SHUTDOWN_DELAY_SECONDS`: how long the process still serves, no longer ready, after the signal to stop, so that a load balancer
 * sees it first. Default 5, and 0 in development.
 */
const shutdownDelay = (deployment: string) =>
  setting("SHUTDOWN_DELAY_SECONDS", wholeNumber(0, 300, "seconds"), deployment === "development" ? "0" : "5")

/** `DOCS_URL`: where the guides are published; the links of errors lead there. Default: `PUBLIC_BASE_URL` and `/docs`. */
const docsUrl = (baseUrl: string) => setting("DOCS_URL", HttpUrl, `${baseUrl}/docs`)

const readConfig = Effect.gen(function* () {
  const baseUrl = yield* publicBaseUrl
  const where = yield* deployment
  const connections = yield* maxConnections
  return {
    database: yield* databaseSettings,
    /** Where reads go first; undefined for the database itself. */
    standby: yield* standbySettings,
    databaseConnections: yield* databaseConnections(12),
    host: yield* host,
    port: yield* port,
    adminHost: yield* adminHost,
    adminPort: yield* adminPort,
    trustProxy: yield* trustProxy,
    unauthenticatedLimit: yield* unauthenticatedLimit,
    maxConnections: connections,
    connectionsPerAddress: yield* connectionsPerAddress(connections),
    /** The most bytes of responses that are stored for one organization's idempotency keys. */
    maxStoredBytes: (yield* idempotencyMib) * 1024 * 1024,
    shutdownDelay: Duration.seconds(yield* shutdownDelay(where)),
    publicBaseUrl: baseUrl,
    deployment: where,
    docsUrl: yield* docsUrl(baseUrl),
    secretsKey: yield* secretsKey,
    cursorKey: cursorKeyRing((yield* cursorKey).map(({ key, mark }) => ({ key: Redacted.value(key), id: mark }))),
  }
})

/** The settings that the API reads from its environment, beside those of `telemetry`. */
export class ApiConfig extends Context.Service<ApiConfig, Readonly<Effect.Success<typeof readConfig>>>()(
  "api/ApiConfig",
) {
  static readonly fromEnvironment = Layer.effect(ApiConfig, readConfig)
}
