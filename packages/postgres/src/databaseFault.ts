import { OrganizationId } from "@outreach/domain/Identifier"
import { RestoreFault } from "@outreach/domain/restores/Restore"
import { DatabaseRoute } from "@outreach/postgres-connection/DatabaseRoute"
import type { DatabaseFault } from "@outreach/postgres-connection/describeDatabaseError"
import { selectLackingSettings, sessionFaultOf } from "@outreach/postgres-connection/sessionSettings"
import { type Duration, Effect, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { SecretCipher } from "./deliveries/SecretCipher.ts"
import { describeFault, faultOf, INSUFFICIENT_PRIVILEGE } from "./describeFault.ts"
import { missingFiles } from "./migrations/planMigrations.ts"
import { readSqlFiles, type SqlFiles } from "./readSqlFiles.ts"
import { FUNCTION_GRANTS, type RoleKind, TABLE_GRANTS, tableRights } from "./roles/grants.ts"
import { decodeColumn, decodeIsTrue, only, rowsOf, toTable } from "./rowsOf.ts"

const READ_ONLY = faultOf("25006")

const OLD_SCHEMA: DatabaseFault = {
  code: "OLD_SCHEMA",
  advice: "the schema is older than this release; run `ops migrate`",
}

const SEARCH_PATH: DatabaseFault = {
  code: "SEARCH_PATH",
  advice:
    "the search_path of the role or the database of DATABASE_URL lacks the schema public; reset it (`alter role … reset search_path`)",
}

const RESTORE_FAULTS: Readonly<Record<RestoreFault, DatabaseFault>> = {
  restoring: {
    code: "RESTORING",
    advice: "the database is being restored; `ops restores show` shows the progress",
  },
  moved: { code: "MOVED", advice: "the database was restored, promoted or moved; see `ops restores show`" },
}

/** The database works, but this process can't decrypt its secrets. */
export const WRONG_KEY: DatabaseFault = {
  code: "SECRETS_KEY",
  advice:
    "SECRETS_KEY does not decrypt the stored signing secrets; set it to the key that encrypted them, or check that DATABASE_URL points to the right database",
}

const states = rowsOf(
  Schema.Struct({
    files: Schema.Array(Schema.String),
    isReadOnly: Schema.Boolean,
    organizationId: Schema.NullOr(OrganizationId),
    ciphertext: Schema.NullOr(Schema.Uint8Array),
    restoreFault: Schema.NullOr(RestoreFault),
    missingRights: Schema.Array(Schema.String),
    lackingSettings: Schema.Array(Schema.String),
  }),
  {
    files: "array(select file from migrations)",
    isReadOnly: "pg_is_in_recovery() or current_setting('transaction_read_only')::boolean",
    restoreFault: "restore_fault()",
    missingRights: "array(select permission from missing)",
    lackingSettings: "array(select name from lacking)",
  },
)
const decodeRights = decodeColumn({ permission: Schema.String })

/** Reports whether the database works but waits for an operator to finish a restore. A paused worker logs that. */
const waitsForRestore = (fault: DatabaseFault): boolean => Object.values(RESTORE_FAULTS).includes(fault)

export const isUnusable = (fault: DatabaseFault | undefined): fault is DatabaseFault =>
  fault !== undefined && !waitsForRestore(fault)

/** The maximum number of missing rights in the log. */
const MAX_NAMED_RIGHTS = 5

interface Options {
  /** The kind of the process: the check includes the rights of its role. Default: doesn't check rights. */
  readonly kind?: Exclude<RoleKind, "reader">
  /** Runs when a check has read a stored secret, or there are none. Default: nothing. */
  readonly onSecretsRead?: () => void
}

/** Creates a check that the database can serve this release, by default including the rights. It returns the fault, or undefined. */
export const makeDatabaseFault = Effect.fnUntraced(function* (
  timeLimit: Duration.Input,
  { kind, onSecretsRead = () => {} }: Options = {},
) {
  const sql = yield* SqlClient.SqlClient
  const cipher = yield* SecretCipher
  const route = yield* DatabaseRoute
  const needed = yield* Effect.cached(readSqlFiles())
  const missingRights = (checked: Options["kind"]) =>
    Effect.map(needed, ({ functions }) => selectMissingRights(sql, checked, functions))
  const rightsFault = (code: string, missing: ReadonlyArray<string>): DatabaseFault | undefined => {
    if (missing.length === 0) return undefined
    const named = missing.slice(0, MAX_NAMED_RIGHTS).join(", ")
    const others = missing.length > MAX_NAMED_RIGHTS ? ` and ${missing.length - MAX_NAMED_RIGHTS} more` : ""
    return {
      code,
      advice: `the role of DATABASE_URL lacks rights: ${named}${others}; run \`ops migrate --grant-to\` as the owner`,
    }
  }

  const hiddenSchema = sql`
    select to_regclass('public.migrations') is not null and has_schema_privilege('public', 'usage') as is_true`.pipe(
    decodeIsTrue,
    Effect.orElseSucceed(() => false),
  )

  const check = Effect.fnUntraced(function* (
    checksRights: boolean,
  ): Effect.fn.Return<DatabaseFault | undefined, unknown> {
    const known = route.outage()
    if (known !== undefined) return known
    const state = yield* sql`
      with missing as (${yield* missingRights(checksRights ? kind : undefined)}), lacking as (${selectLackingSettings(sql, route)})
      select ${states.columns} from (select) one left join (
        select organization_id, ciphertext from signing_secrets where ciphertext is not null order by id desc limit 1
      ) newest on true`.pipe(states.decode, only)
    // A process with the wrong key must stop, even if there is another fault.
    const { organizationId, ciphertext } = state
    if (organizationId && ciphertext && cipher.keyIdOf(ciphertext, organizationId) === undefined) return WRONG_KEY
    onSecretsRead()
    if (missingFiles(yield* needed, new Set(state.files)).length > 0) return OLD_SCHEMA
    if (state.isReadOnly) return READ_ONLY
    const lacking = rightsFault("MISSING_RIGHTS", state.missingRights)
    if (lacking !== undefined) return lacking
    if (state.restoreFault !== null) return RESTORE_FAULTS[state.restoreFault]
    return sessionFaultOf(state.lackingSettings, route)
  })
  return (checksRights = true) =>
    check(checksRights).pipe(
      Effect.catch((error) => {
        const fault = describeFault(error)
        if (fault.code === "42P01") {
          return Effect.map(hiddenSchema, (isHidden) => (isHidden ? SEARCH_PATH : fault))
        }
        if (fault.code !== INSUFFICIENT_PRIVILEGE) return Effect.succeed(fault)
        return Effect.map(
          Effect.flatMap(missingRights(kind), decodeRights),
          (missing) => rightsFault(fault.code, missing) ?? fault,
        )
      }),
      Effect.timeout(timeLimit),
      Effect.catch((error) => Effect.succeed(describeFault(error))),
    )
})

/**
 * Selects the rights of a kind of process that the current role lacks, directly and through membership; none without a kind. Skips tables,
 * columns and functions that the schema doesn't have.
 */
const selectMissingRights = (
  sql: SqlClient.SqlClient,
  kind: Options["kind"],
  functions: SqlFiles["functions"],
): Statement.Statement<object> => {
  const onTables = Object.keys(kind === undefined ? {} : TABLE_GRANTS).flatMap((table) =>
    tableRights(table, kind!).map((right) => {
      const [privilege = "", attribute = null] = right.replace(")", "").split(" (")
      return { relation: table, privilege, attribute, permission: `${right} on ${table}` }
    }),
  )
  const called = functions.filter(({ name }) => kind !== undefined && FUNCTION_GRANTS[name]?.includes(kind) !== false)
  return sql`
    select permission from ${toTable("wanted", onTables, { relation: "text", privilege: "text", attribute: "text", permission: "text" })}
    left join pg_attribute on attrelid = to_regclass(relation) and attname = attribute
    where not case when attribute is null then has_table_privilege(to_regclass(relation), privilege)
      else has_column_privilege(attrelid, attnum, privilege) end
    union all
    select 'execute on function ' || proname from pg_proc
    where pronamespace = 'public'::regnamespace and proname = any (${called.map(({ name }) => name)}::text[])
      and prorettype <> 'trigger'::regtype and not has_function_privilege(oid, 'execute')
    order by 1`
}
