import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRoute } from "./DatabaseRoute.ts"
import type { DatabaseFault } from "./describeDatabaseError.ts"

export const SESSION_SETTINGS_CODE = "SESSION_SETTINGS"

/** PostgreSQL's names of UTC. */
const UTC = "^(?:etc/)?(?:utc|uct|gmt|gmt[+-]?0|greenwich|universal|zulu)$"

/** Returns advice about missing settings of the process's sessions; undefined if there are none. */
export const sessionFault = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { pooler, sessionSettings } = yield* DatabaseRoute
  const lacking = yield* sql<{ name: string }>`
    select key as name from json_each_text(${JSON.stringify(sessionSettings)}::json)
    where current_setting(key) is distinct from value and not (key = 'timezone' and current_setting(key) ~* ${UTC})`
  if (lacking.length === 0) return undefined
  const names = lacking.map(({ name }) => name).join(", ")
  const advice =
    pooler === "none"
      ? `a pooler drops settings of the session (${names}); set DATABASE_LISTEN_URL to the address of the database itself`
      : `the role of DATABASE_URL lacks settings that the pooler does not pass on (${names}); give it them by \`alter role\``
  return { code: SESSION_SETTINGS_CODE, advice } satisfies DatabaseFault
})
