import * as PgClient from "@effect/sql-pg/PgClient"
import * as PgTypes from "@effect/sql-pg/PgTypes"
import type { Duration, Redacted } from "effect"
import { SESSION_SETTINGS } from "./sessionSettings.ts"
import { timestampCodec } from "./timestampCodec.ts"

const types = PgTypes.makeRegistry()
types.register(PgTypes.OID.timestamptz, timestampCodec, { arrayOid: PgTypes.OID.timestamptzArray })

/** Connects to the database; timestamps cross with their microseconds. */
export const databaseLayer = (options: {
  readonly url: Redacted.Redacted
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string
  /** Default 10. */
  readonly maxConnections?: number
  /**
   * `shared`: short statements of many fibers travel over one connection together, 2.7 times as many a second, at the price that
   * a slow one delays those behind it; transactions still have a connection to themselves. Default `exclusive`.
   */
  readonly connections?: "exclusive" | "shared"
  /** How long a connection may take to open. Default 10 seconds. */
  readonly connectTimeout?: Duration.Input
}) =>
  PgClient.layer({
    url: options.url,
    applicationName: options.applicationName,
    maxConnections: options.maxConnections ?? 10,
    multiplex: options.connections === "shared",
    connectTimeout: options.connectTimeout ?? "10 seconds",
    types,
    startupParameters: SESSION_SETTINGS,
  })
