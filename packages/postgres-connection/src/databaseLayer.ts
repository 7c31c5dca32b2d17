import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { Duration, Effect, Layer, Scope } from "effect"
import { type DatabaseAddress, parseDatabaseAddress } from "./DatabaseAddress.ts"
import { DatabaseRoute } from "./DatabaseRoute.ts"
import type { DatabaseSettings } from "./databaseSettings.ts"
import { Heartbeat } from "./Heartbeat.ts"
import { SESSION_SETTINGS, STARTUP_SETTINGS } from "./sessionSettings.ts"
import { timestampCodec } from "./timestampCodec.ts"

/** Time limit for opening a connection. It is shorter for each of several servers of which one is sought, because a lost one delays the search. */
const CONNECT = "4 seconds"
const CONNECT_IN_SEARCH = "2 seconds"
/** Time limit of a heartbeat's response. */
const RESPONSE_MS = 5000
/** The same if the heartbeat may have to wait for one of the pooler's connections. */
const POOLER_RESPONSE_MS = 15_000
/** The longest delay of a timer. */
const MAX_TIMER_MS = 2 ** 31 - 1

const types = PgTypes.makeRegistry()
types.register(PgTypes.OID.timestamptz, timestampCodec, { arrayOid: PgTypes.OID.timestamptzArray })

interface RouteOptions {
  readonly database: DatabaseSettings
  /** Shown in `pg_stat_activity`, unless the address sets an application name. */
  readonly applicationName: string
  /** Time limit for opening a connection, unless set in the address. */
  readonly connectTimeout?: Duration.Input
  /** Time limit of a statement in whole seconds. Default 30. A pooler in transaction mode doesn't pass it on: set it for the role. */
  readonly statementTimeoutSeconds?: number
}

interface PoolOptions {
  /** Default 10. */
  readonly maxConnections?: number
  /**
   * `shared`: short statements of many fibers share a connection, 2.7 times as many a second, but a
   * slow one delays the following ones; transactions have a separate connection. Default `exclusive`.
   */
  readonly connections?: "exclusive" | "shared"
}

/** Connects to the database with one pool. Timestamps keep their microseconds. */
export const databaseLayer = (options: RouteOptions & PoolOptions) =>
  Layer.provideMerge(databasePool(options), databaseRoute(options))

/** Creates a pool of connections to the process's database. */
export const databasePool = ({ maxConnections = 10, connections = "exclusive" }: PoolOptions) =>
  PgClient.layerFrom(
    Effect.flatMap(DatabaseRoute, ({ pool }) =>
      PgClient.make(pool({ maxConnections, multiplex: connections === "shared" })),
    ),
  )

/** Starts the heartbeat that all pools of a process share, and waits for its first response or failure. */
export const databaseRoute = (options: RouteOptions) => {
  const { address, directAddress, pooler, clockSkewSeconds } = options.database
  const statementTimeout = { statement_timeout: `${options.statementTimeoutSeconds ?? 30}s` }
  const configOf = (address: DatabaseAddress): PgClient.PgClientConfig => ({
    port: address.hosts[0]!.port,
    database: address.database,
    username: address.username,
    password: address.password,
    startupOptions: address.options,
    applicationName: address.applicationName ?? options.applicationName,
    connectTimeout: address.connectTimeout ?? options.connectTimeout ?? CONNECT,
    types,
  })
  const start = Effect.fnUntraced(function* (address: DatabaseAddress, responseMs: number) {
    const limit = address.hosts.length > 1 ? CONNECT_IN_SEARCH : CONNECT
    const connectTimeout = address.connectTimeout ?? options.connectTimeout ?? limit
    const heartbeat = new Heartbeat({
      address,
      config: { ...configOf(address), connectTimeout: Duration.infinity },
      connectMs: Math.min(Duration.toMillis(Duration.fromInputUnsafe(connectTimeout)), MAX_TIMER_MS),
      responseMs,
    })
    yield* Effect.forkScoped(heartbeat.run())
    yield* heartbeat.changes.after(0)
    return heartbeat
  })
  const route = Effect.gen(function* () {
    const heartbeat = yield* start(address, pooler === "none" ? RESPONSE_MS : POOLER_RESPONSE_MS)
    const scope = yield* Effect.scope
    const direct =
      pooler === "none" ? Effect.succeed(heartbeat) : yield* Effect.cached(start(directAddress, RESPONSE_MS))
    return {
      pooler,
      clockSkewSeconds,
      sessionSettings: pooler === "none" ? { ...SESSION_SETTINGS, ...statementTimeout } : SESSION_SETTINGS,
      outage: () => heartbeat.outage,
      changes: heartbeat.changes,
      // A pooler passes on no other setting, and keeps the time zone of connections without one.
      // The next transaction has another session without this one's prepared statement.
      pool: (size) =>
        heartbeat.configure({
          ...configOf(address),
          ...(pooler === "none"
            ? { startupParameters: { ...STARTUP_SETTINGS, ...statementTimeout } }
            : { startupParameters: { timezone: SESSION_SETTINGS.timezone }, prepare: false }),
          ...size,
        }),
      direct: Effect.map(direct, (heartbeat) =>
        heartbeat.configure({ ...configOf(directAddress), startupParameters: STARTUP_SETTINGS }),
      ).pipe(Scope.provide(scope)),
    } satisfies DatabaseRoute["Service"]
  })
  return Layer.effect(DatabaseRoute, route)
}

/** Returns the settings of a directly reached database. Throws if the address is invalid. */
export const databaseAt = (url: string): DatabaseSettings => {
  const address = parseDatabaseAddress(url)
  if (address === undefined) throw new RangeError("The address is not a postgres:// address")
  return { address, directAddress: address, pooler: "none", clockSkewSeconds: 60 }
}
