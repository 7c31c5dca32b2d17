/**
 * The settings of every session, as `current_setting` shows them. A pooler in transaction mode passes none on: there the role has them, by `alter role … set`.
 */
export const SESSION_SETTINGS = {
  timezone: "UTC",
  statement_timeout: "30s",
  idle_in_transaction_session_timeout: "30s",
  // A killed process's statement ends with it, and so do the locks of its transaction.
  client_connection_check_interval: "2s",
} as const satisfies Readonly<Record<string, string>>

/** The statement that lifts the time limit of the others of its transaction: on the server, and on this side for the connection. */
export const LIFT_TIME_LIMIT = "set local statement_timeout = 0"
