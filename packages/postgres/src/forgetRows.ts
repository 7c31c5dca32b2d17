import type { SqlClient, Statement } from "effect/sql"
import { decodeCount } from "./rowsOf.ts"

/**
 * Deletes a batch of a table's rows, the earliest first; returns the number, 0 when there are no more. Workers share the work and skip
 * locked rows.
 */
export const forgetRows = (
  sql: SqlClient.SqlClient,
  table: string,
  options: {
    /** The columns of the primary key. */
    readonly key: ReadonlyArray<string>
    readonly where: Statement.Fragment
    readonly orderBy: string
    readonly limit: number
  },
) =>
  sql`
    with old as materialized (
      select ${sql.csv(options.key)} from ${sql(table)}
      where ${options.where} order by ${sql(options.orderBy)} limit ${options.limit}::int for update skip locked
    ), gone as (
      delete from ${sql(table)} kept using old
      where ${sql.and(options.key.map((column) => `kept.${column} = old.${column}`))}
      returning 1
    )
    select count(*)::int as count from gone`.pipe(decodeCount)
