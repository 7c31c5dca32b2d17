import type { PgClientConfig } from "@effect/sql-pg/PgClient"
import { Context } from "effect"
import type { DatabaseFault } from "./describeDatabaseError.ts"
import type { Signal } from "./Signal.ts"

/** What stands between a process and its database: nothing, or a pooler that lends a connection for one transaction. */
export type Pooler = "none" | "transaction"

/** How this process reaches its database. */
export class DatabaseRoute extends Context.Service<
  DatabaseRoute,
  {
    readonly pooler: Pooler
    /** The settings that every session has, as `current_setting` shows them. */
    readonly sessionSettings: Readonly<Record<string, string>>
    /** Returns why nothing can be asked of the database now; undefined while something can. */
    readonly outage: () => DatabaseFault | undefined
    /** Raised when an outage begins, and when it ends. */
    readonly changes: Signal
    /** The same as `direct`, for notifications: no response may take longer than a heartbeat's. */
    readonly listening: PgClientConfig
    /** How to open a connection to the database itself, past a pooler: its session lasts as long as the connection. */
    readonly direct: PgClientConfig
  }
>()("postgres-connection/DatabaseRoute") {}
