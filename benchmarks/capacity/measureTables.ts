import type postgres from "postgres"

/** The bytes of a table and its partitions. */
export interface TableBytes {
  readonly name: string
  readonly rows: number
  readonly heap: number
  readonly toast: number
  readonly indexes: number
}

/** Measures the tables with at least `minRows` rows, largest first. */
export async function measureTables(sql: postgres.Sql, minRows: number): Promise<readonly TableBytes[]> {
  const tables = await sql<Omit<TableBytes, "rows">[]>`
    select root.relname as name, sum(pg_table_size(part.oid) - toast)::float8 as heap, sum(toast)::float8 as toast,
      sum(pg_indexes_size(part.oid))::float8 as indexes
    from pg_class part
    cross join lateral (select coalesce(pg_total_relation_size(nullif(part.reltoastrelid, 0)), 0) as toast) toast
    join pg_class root on root.oid = coalesce(pg_partition_root(part.oid), part.oid)
    where part.relkind = 'r' and part.relnamespace = 'public'::regnamespace
    group by root.relname`
  const counted: TableBytes[] = []
  for (const table of tables) {
    const [row] = await sql<{ rows: number }[]>`select count(*)::float8 as rows from ${sql(table.name)}`
    if (row!.rows >= minRows) counted.push({ ...table, rows: row!.rows })
  }
  return counted.sort((a, b) => bytesOf(b) - bytesOf(a))
}

/** Returns the bytes of a table with its indexes. */
export const bytesOf = ({ heap, toast, indexes }: TableBytes): number => heap + toast + indexes
