import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Duration, Effect, Layer } from "effect"
import { ClockSkew } from "./ClockSkew.ts"
import { ConnectionWatch, HEARTBEAT_LIMIT_MS } from "./ConnectionWatch.ts"
import { type DatabaseAddress, parseDatabaseAddress } from "./DatabaseAddress.ts"
import { DatabaseRoute } from "./DatabaseRoute.ts"
import { DatabaseSocket, type SocketRole } from "./DatabaseSocket.ts"
import type { DatabaseSettings } from "./databaseSettings.ts"
import { sendHeartbeats } from "./heartbeat.ts"
import { SESSION_SETTINGS, STARTUP_SETTINGS } from "./sessionSettings.ts"
import { timestampCodec } from "./timestampCodec.ts"

/** Additional time for a response after the server's `statement_timeout`. */
const RESPONSE_MARGIN_MS = 5000

/** Time limits of responses; infinite for sessions that may wait. */
const LIMITS_MS = {
  heartbeat: HEARTBEAT_LIMIT_MS,
  listener: HEARTBEAT_LIMIT_MS,
  session: Number.POSITIVE_INFINITY,
}

/** The heartbeat's limit if it may have to wait for one of the pooler's connections. */
const POOLER_LIMIT_MS = 15_000

const types = PgTypes.makeRegistry()
types.register(PgTypes.OID.timestamptz, timestampCodec, { arrayOid: PgTypes.OID.timestamptzArray })

/** Connects to the database. Timestamps keep their microseconds. */
export const databaseLayer = (options: {
  readonly database: DatabaseSettings
  /** Shown in `pg_stat_activity`, unless the address sets an application name. */
  readonly applicationName: string
  /** Default 10. */
  readonly maxConnections?: number
  /**
   * `shared`: short statements of many fibers share a connection, 2.7 times as many a second, but a
   * slow one delays the following ones; transactions have a separate connection. Default `exclusive`.
   */
  readonly connections?: "exclusive" | "shared"
  /** Time limit for opening a connection, unless set in the address. Default 5 seconds, and 4 for the heartbeat, which reconnects after an outage. */
  readonly connectTimeout?: Duration.Input
  /** Time limit of a statement in whole seconds. Default 30. A pooler in transaction mode doesn't pass it on: set it for the role. */
  readonly statementTimeoutSeconds?: number
}) => {
  const { address, directAddress, pooler, clockSkewSeconds } = options.database
  const { statementTimeoutSeconds = 30 } = options
  const limitsMs = { ...LIMITS_MS, pool: statementTimeoutSeconds * 1000 + RESPONSE_MARGIN_MS }
  const clientOf = (address: DatabaseAddress, role: SocketRole): PgClient.PgClientConfig => {
    const timeout =
      address.connectTimeout ?? options.connectTimeout ?? (role === "heartbeat" ? "4 seconds" : "5 seconds")
    const connectTimeoutMs = Duration.toMillis(Duration.fromInputUnsafe(timeout))
    const limitMs = role === "heartbeat" && pooler === "transaction" ? POOLER_LIMIT_MS : limitsMs[role]
    const watch = ConnectionWatch.of(address)
    return {
      // Only for spans: the stream knows the hosts.
      host: address.hosts[0]!.host,
      port: address.hosts[0]!.port,
      database: address.database,
      username: address.username,
      password: address.password,
      startupOptions: address.options,
      applicationName: address.applicationName ?? options.applicationName,
      // The stream has its own limit.
      connectTimeout: Duration.infinity,
      types,
      ssl: false,
      stream: () => new DatabaseSocket({ address, watch, role, connectTimeoutMs, limitMs }),
    }
  }
  const statementTimeout = { statement_timeout: `${statementTimeoutSeconds}s` }
  return Layer.mergeAll(
    PgClient.layer({
      ...clientOf(address, "pool"),
      // A pooler passes on no other setting, and keeps the time zone of connections without one.
      // The next transaction has another session without this one's prepared statement.
      ...(pooler === "none"
        ? { startupParameters: { ...STARTUP_SETTINGS, ...statementTimeout } }
        : { startupParameters: { timezone: SESSION_SETTINGS.timezone }, prepare: false }),
      maxConnections: options.maxConnections ?? 10,
      multiplex: options.connections === "shared",
    }),
    Layer.effectDiscard(
      Effect.forkScoped(sendHeartbeats(ConnectionWatch.of(address), (role) => clientOf(address, role))),
    ),
    Layer.succeed(DatabaseRoute, {
      pooler,
      sessionSettings: pooler === "none" ? { ...SESSION_SETTINGS, ...statementTimeout } : SESSION_SETTINGS,
      outage: () => ConnectionWatch.of(address).outage,
      changes: ConnectionWatch.of(address).changes,
      listening: { ...clientOf(directAddress, "listener"), startupParameters: STARTUP_SETTINGS },
      direct: { ...clientOf(directAddress, "session"), startupParameters: STARTUP_SETTINGS },
    }),
    Layer.succeed(ClockSkew, { seconds: clockSkewSeconds }),
  )
}

/** Returns the settings of a directly reached database. Throws if the address is invalid. */
export const databaseAt = (url: string): DatabaseSettings => {
  const address = parseDatabaseAddress(url)
  if (address === undefined) throw new RangeError("The address is not a postgres:// address")
  return { address, directAddress: address, pooler: "none", clockSkewSeconds: 60 }
}
