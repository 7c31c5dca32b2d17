import type { PgClientConfig } from "@effect/sql-pg/PgClient"
import { Context } from "effect"
import type { DatabaseFault } from "./describeDatabaseError.ts"
import type { Signal } from "./Signal.ts"

/** Whether a pooler is between a process and its database. `transaction` assigns a connection per transaction. */
export type Pooler = "none" | "transaction"

/** How this process reaches its database. */
export class DatabaseRoute extends Context.Service<
  DatabaseRoute,
  {
    readonly pooler: Pooler
    /** Settings of every session, as shown by `current_setting`. */
    readonly sessionSettings: Readonly<Record<string, string>>
    /** Returns the reason why the database can't be used now; undefined if it can. */
    readonly outage: () => DatabaseFault | undefined
    /** Raised when an outage starts and when it ends. */
    readonly changes: Signal
    /** Like `direct`, for notifications: every response must arrive within a heartbeat's limit. */
    readonly listening: PgClientConfig
    /** Configuration of connections to the database itself, bypassing a pooler: the session lasts as long as the connection. */
    readonly direct: PgClientConfig
  }
>()("postgres-connection/DatabaseRoute") {}
