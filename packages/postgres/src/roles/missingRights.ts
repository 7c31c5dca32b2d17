import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readSqlFiles } from "../readSqlFiles.ts"
import { decodeColumn } from "../rowsOf.ts"
import { toTable } from "../toTable.ts"
import { FUNCTION_GRANTS, type RoleKind, TABLE_GRANTS, tableRights } from "./grants.ts"

const decodeRights = decodeColumn({ permission: Schema.String })

/**
 * Creates the query for the rights of a kind of process that the current role lacks, directly and through membership. Skips tables, columns and
 * functions that the schema doesn't have.
 */
export const createMissingRights = Effect.fnUntraced(function* (kind: Exclude<RoleKind, "reader">) {
  const sql = yield* SqlClient.SqlClient
  const onTables = Object.keys(TABLE_GRANTS).flatMap((table) =>
    tableRights(table, kind).map((right) => {
      const [privilege = "", attribute = null] = right.replace(")", "").split(" (")
      return { relation: table, privilege, attribute, permission: `${right} on ${table}` }
    }),
  )
  const functions = (yield* readSqlFiles()).functions.flatMap(({ name }) =>
    FUNCTION_GRANTS[name]?.includes(kind) === false ? [] : name,
  )
  return sql`
    select permission from ${toTable("wanted", onTables, { relation: "text", privilege: "text", attribute: "text", permission: "text" })}
    left join pg_attribute on attrelid = to_regclass(relation) and attname = attribute
    where not case when attribute is null then has_table_privilege(to_regclass(relation), privilege)
      else has_column_privilege(attrelid, attnum, privilege) end
    union all
    select 'execute on function ' || proname from pg_proc
    where pronamespace = 'public'::regnamespace and proname = any (${functions}::text[]) and prorettype <> 'trigger'::regtype
      and not has_function_privilege(oid, 'execute')
    order by 1`.pipe(decodeRights)
})
