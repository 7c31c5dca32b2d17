import type { OrganizationId } from "@outreach/domain/Identifier"
import type { RestoreFault } from "@outreach/domain/restores/Restore"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { DatabaseRoute } from "./connection/DatabaseRoute.ts"
import { poolerRefusal, sessionFault } from "./connection/sessionFault.ts"
import { SecretCipher } from "./deliveries/SecretCipher.ts"
import { missingFiles } from "./migrations/planMigrations.ts"
import { readSqlFiles } from "./migrations/readSqlFiles.ts"
import { sqlState } from "./migrations/replaceFunction.ts"

const UNDEFINED_TABLE = "42P01"
const INSUFFICIENT_PRIVILEGE = "42501"

interface State {
  readonly files: ReadonlyArray<string>
  readonly isReadOnly: boolean
  readonly organizationId: OrganizationId | null
  readonly ciphertext: Uint8Array | null
}

const RESTORE_FAULTS: Readonly<Record<RestoreFault, string>> = {
  restoring: "the database is being restored; `ops restore status` shows how far it is",
  moved: "the database was restored, promoted or moved; see `ops restore status`",
}

/** Creates the check of what keeps the database from serving this release; the check returns undefined when nothing does. */
export const makeDatabaseFault = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher
  const lackingSettings = Effect.provideContext(
    sessionFault,
    yield* Effect.context<SqlClient.SqlClient | DatabaseRoute>(),
  )
  const needed = yield* Effect.cached(readSqlFiles())

  const opens = ({ organizationId, ciphertext }: State): boolean => {
    if (organizationId === null || ciphertext === null) return true
    try {
      cipher.decrypt(ciphertext, organizationId)
      return true
    } catch {
      return false
    }
  }

  return Effect.gen(function* () {
    const rows = yield* sql<State>`
      select array(select file from migrations) as files,
        pg_is_in_recovery() or current_setting('transaction_read_only')::boolean as "isReadOnly",
        newest.organization_id as "organizationId", newest.ciphertext
      from (select) one left join (
        select organization_id, ciphertext from signing_secrets order by id desc limit 1
      ) newest on true`
    const state = rows[0]!
    if (missingFiles(yield* needed, new Set(state.files)).length > 0) {
      return "the schema is older than this release; run `ops migrate`"
    }
    if (state.isReadOnly) return "the database is read-only"
    // Apart, because an older schema does not have the function.
    const [restore] = yield* sql<{ fault: RestoreFault | null }>`select restore_fault() as fault`
    if (restore!.fault !== null) return RESTORE_FAULTS[restore!.fault]
    const fault = yield* lackingSettings
    if (fault !== undefined) return fault
    return opens(state) ? undefined : "SECRETS_KEY does not open the signing secrets that are stored"
  }).pipe(
    Effect.timeout("2 seconds"),
    Effect.catch((error) => Effect.succeed(poolerRefusal(error) ?? describe(sqlState(error)))),
  )
})

const describe = (state: string | undefined): string => {
  if (state === UNDEFINED_TABLE) return "the schema is missing; run `ops migrate`"
  if (state === INSUFFICIENT_PRIVILEGE) return "the role of DATABASE_URL may not read the tables"
  return state === undefined ? "the database does not answer" : `the database answers with SQLSTATE ${state}`
}
