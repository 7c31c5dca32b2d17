import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** Reads a digest of all that the database holds, less when sessions were used. */
export const contentsOf = Effect.fnUntraced(function* ({ withAuditLog = true } = {}) {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relname <> 'operator_sessions'
    order by relname`
  const compared = tables.filter(({ name }) => withAuditLog || !name.startsWith("audit_"))
  return yield* Effect.forEach(compared, ({ name }) =>
    Effect.map(
      sql<{
        digest: string
      }>`select md5(string_agg(row::text, ',' order by row::text)) as digest from ${sql(name)} as row`,
      ([found]) => [name, found!.digest] as const,
    ),
  )
})
