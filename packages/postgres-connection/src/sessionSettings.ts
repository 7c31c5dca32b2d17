/**
 * The settings of every session, as `current_setting` shows them. A pooler in transaction mode passes on the time zone alone: there the role has them, by
 * `alter role … set`.
 */
export const SESSION_SETTINGS = {
  timezone: "UTC",
  statement_timeout: "30s",
  idle_in_transaction_session_timeout: "30s",
  // A killed process's statement ends with it, and so do the locks of its transaction.
  client_connection_check_interval: "2s",
} as const satisfies Readonly<Record<string, string>>

/** What a session is opened with. A server frees the session of a client that is gone without a word 25 s later, not after two hours. */
export const STARTUP_SETTINGS: Readonly<Record<string, string>> = {
  ...SESSION_SETTINGS,
  // No statement runs so long that compiling it pays: it may take hundreds of milliseconds.
  jit: "off",
  tcp_keepalives_idle: "10s",
  tcp_keepalives_interval: "5s",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "25s",
}

/** The statement that lifts the time limit of the others of its transaction: on the server, and on this side for the connection. */
export const LIFT_TIME_LIMIT = "set local statement_timeout = 0"
