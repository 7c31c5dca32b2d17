import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import { type Duration, Layer } from "effect"
import { connectOfferedTls } from "./connection/connectOfferedTls.ts"
import { type DatabaseAddress, parseDatabaseAddress } from "./connection/DatabaseAddress.ts"
import { DatabaseRoute } from "./connection/DatabaseRoute.ts"
import type { DatabaseSettings } from "./connection/databaseSettings.ts"
import { SESSION_SETTINGS } from "./sessionSettings.ts"
import { timestampCodec } from "./timestampCodec.ts"

const types = PgTypes.makeRegistry()
types.register(PgTypes.OID.timestamptz, timestampCodec, { arrayOid: PgTypes.OID.timestamptzArray })

/** Connects to the database; timestamps cross with their microseconds. */
export const databaseLayer = (options: {
  readonly database: DatabaseSettings
  /** Shown in `pg_stat_activity`, unless the address names the application. */
  readonly applicationName: string
  /** Default 10. */
  readonly maxConnections?: number
  /**
   * `shared`: short statements of many fibers travel over one connection together, 2.7 times as many a second, at the price that
   * a slow one delays those behind it; transactions still have a connection to themselves. Default `exclusive`.
   */
  readonly connections?: "exclusive" | "shared"
  /** How long a connection may take to open, unless the address says. Default 10 seconds. */
  readonly connectTimeout?: Duration.Input
}) => {
  const { address, directAddress, pooler } = options.database
  const clientOf = (address: DatabaseAddress): PgClient.PgClientConfig => ({
    host: address.host,
    port: address.port,
    database: address.database,
    username: address.username,
    password: address.password,
    startupOptions: address.options,
    applicationName: address.applicationName ?? options.applicationName,
    connectTimeout: address.connectTimeout ?? options.connectTimeout ?? "10 seconds",
    types,
    ...transportOf(address),
  })
  return Layer.merge(
    PgClient.layer({
      ...clientOf(address),
      // A pooler passes no setting on, and the next transaction has another connection, without the statement that this one named.
      ...(pooler === "none" ? { startupParameters: SESSION_SETTINGS } : { prepare: false }),
      maxConnections: options.maxConnections ?? 10,
      multiplex: options.connections === "shared",
    }),
    Layer.succeed(DatabaseRoute, {
      pooler,
      direct: { ...clientOf(directAddress), startupParameters: SESSION_SETTINGS },
    }),
  )
}

/** Returns the settings of a database that is reached directly. Throws if the address is not valid. */
export const databaseAt = (url: string): DatabaseSettings => {
  const address = parseDatabaseAddress(url)
  if (address === undefined) throw new RangeError("The address is not a postgres:// address")
  return { address, directAddress: address, pooler: "none" }
}

const transportOf = ({ host, port, tls }: DatabaseAddress): Pick<PgClient.PgClientConfig, "ssl" | "stream"> => {
  if (tls.use === "never") return { ssl: false }
  if (tls.use === "always") return { ssl: tls.options }
  return { ssl: false, stream: () => connectOfferedTls({ host, port }, tls.options) }
}
