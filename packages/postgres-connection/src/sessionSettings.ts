/**
 * Settings of every session, as shown by `current_setting`. A pooler in transaction mode passes on only the time zone: set the others for the role with
 * `alter role … set`.
 */
export const SESSION_SETTINGS = {
  timezone: "UTC",
  statement_timeout: "30s",
  idle_in_transaction_session_timeout: "30s",
  // Ends a killed process's statement, and so the locks of its transaction.
  client_connection_check_interval: "2s",
  // No statement is long enough to benefit from compilation, which can take seconds.
  jit: "off",
} as const satisfies Readonly<Record<string, string>>

/** Startup parameters of a session. A server frees the session of a vanished client after 25 s instead of two hours. */
export const STARTUP_SETTINGS: Readonly<Record<string, string>> = {
  ...SESSION_SETTINGS,
  tcp_keepalives_idle: "10s",
  tcp_keepalives_interval: "5s",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "25s",
}

/** Disables the time limit for the rest of a transaction. */
export const LIFT_TIME_LIMIT = "set local statement_timeout = 0"
