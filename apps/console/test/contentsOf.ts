import { sql } from "@outreach/testing/sql"
import { Effect } from "effect"

/** Reads a digest of each table, except of the sessions, which each request renews. */
export const contentsOf = Effect.fnUntraced(function* ({ withAuditLog = true } = {}) {
  const tables = yield* sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
      and relname <> 'operator_sessions' and (${withAuditLog} or relname not like 'audit\\_%')`
  const digests = tables.map(
    ({ name }) => `
      select '${name}' as name, md5(string_agg(row::text, ',' order by row::text)) as digest from "${name}" as row`,
  )
  const rows = yield* sql.unsafe<{ name: string; digest: string }>(digests.join(" union all "))
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
})
