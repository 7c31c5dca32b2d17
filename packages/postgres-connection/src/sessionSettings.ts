import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { DatabaseRoute } from "./DatabaseRoute.ts"
import type { DatabaseFault } from "./describeDatabaseError.ts"

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

/** PostgreSQL's names of UTC. */
const UTC = "^(?:etc/)?(?:utc|uct|gmt|gmt[+-]?0|greenwich|universal|zulu)$"

/** Selects the names of the settings that the session lacks. */
export const selectLackingSettings = (
  sql: SqlClient.SqlClient,
  { sessionSettings }: typeof DatabaseRoute.Service,
): Statement.Statement<{ readonly name: string }> => sql`
  select key as name from json_each_text(${JSON.stringify(sessionSettings)}::json)
  where current_setting(key) is distinct from value and not (key = 'timezone' and current_setting(key) ~* ${UTC})`

/** Returns advice about the settings that the process's sessions lack; undefined if there are none. */
export const sessionFaultOf = (
  lacking: ReadonlyArray<string>,
  { pooler }: typeof DatabaseRoute.Service,
): DatabaseFault | undefined => {
  if (lacking.length === 0) return undefined
  const names = lacking.join(", ")
  const advice =
    pooler === "none"
      ? `a pooler drops settings of the session (${names}); set DATABASE_LISTEN_URL to the address of the database itself`
      : `the role of DATABASE_URL lacks settings that the pooler does not pass on (${names}); give it them by \`alter role\``
  return { code: "SESSION_SETTINGS", advice }
}

/** Returns advice about the settings that this session lacks; undefined if there are none. */
export const sessionFault = Effect.gen(function* () {
  const route = yield* DatabaseRoute
  const lacking = yield* selectLackingSettings(yield* SqlClient.SqlClient, route)
  return sessionFaultOf(
    lacking.map(({ name }) => name),
    route,
  )
})
