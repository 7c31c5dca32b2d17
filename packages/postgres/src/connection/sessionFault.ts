import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { SESSION_SETTINGS } from "../sessionSettings.ts"
import { DatabaseRoute } from "./DatabaseRoute.ts"

/** Returns what to do about settings that the process's sessions lack; undefined if they lack none. */
export const sessionFault = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { pooler } = yield* DatabaseRoute
  const lacking = yield* sql<{ name: string }>`
    select key as name from json_each_text(${JSON.stringify(SESSION_SETTINGS)}::json)
    where current_setting(key) is distinct from value`
  if (lacking.length === 0) return undefined
  const names = lacking.map(({ name }) => name).join(", ")
  return pooler === "none"
    ? `a pooler drops settings of the session (${names}); set DATABASE_POOLER and DATABASE_LISTEN_URL`
    : `the role of DATABASE_URL lacks settings that the pooler does not pass on (${names}); give it them by \`alter role\``
})

/** Returns what to do about a pooler that refuses the settings of a session; undefined for any other error. */
export const poolerRefusal = (error: unknown): string | undefined => {
  for (let each = error; typeof each === "object" && each !== null; ) {
    const { message, reason, cause } = each as { message?: unknown; reason?: unknown; cause?: unknown }
    // PgBouncer gives most of its errors the same SQLSTATE.
    if (/^unsupported startup parameter/.test(String(message))) {
      return "a pooler refuses settings of the session; set DATABASE_POOLER, and DATABASE_LISTEN_URL to the database itself"
    }
    each = reason ?? cause
  }
  return undefined
}
