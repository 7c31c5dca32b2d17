import type { PgClientConfig, PgPoolConfig } from "@effect/sql-pg/PgClient"
import { Context, type Effect } from "effect"
import type { DatabaseFault } from "./describeDatabaseError.ts"
import type { Signal } from "./Signal.ts"

/** Whether a pooler is between a process and its database. `transaction` assigns a connection per transaction. */
export type Pooler = "none" | "transaction"

/** How this process reaches its database. Its connections share one heartbeat. */
export class DatabaseRoute extends Context.Service<
  DatabaseRoute,
  {
    readonly pooler: Pooler
    /** Maximum difference between the clocks of servers that can take over from each other. */
    readonly clockSkewSeconds: number
    /** Settings of every session, as shown by `current_setting`. */
    readonly sessionSettings: Readonly<Record<string, string>>
    /** Returns the reason why the database can't be used now; undefined if it can. */
    readonly outage: () => DatabaseFault | undefined
    /** Raised when an outage starts, changes or ends. */
    readonly changes: Signal
    /** Returns the configuration of a pool. */
    readonly pool: (size: Pick<PgPoolConfig, "maxConnections" | "multiplex">) => PgPoolConfig
    /** Configuration of connections to the database itself, bypassing a pooler: the session lasts as long as the connection. */
    readonly direct: Effect.Effect<PgClientConfig>
  }
>()("postgres-connection/DatabaseRoute") {}
