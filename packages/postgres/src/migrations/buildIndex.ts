import { Effect, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlFile } from "../readSqlFiles.ts"
import { decodeRows } from "../rowsOf.ts"

const decodeStates = decodeRows({ valid: Schema.Boolean })
const decodeBlockers = decodeRows({ pid: Schema.Int, name: Schema.String, since: Schema.String })

/** Returns the name of the index that a file builds concurrently, if it does. Such a file contains only that statement. */
export const concurrentIndexOf = ({ text }: SqlFile): string | undefined =>
  /^(?:\s|--.*\n)*create\s+(?:unique\s+)?index\s+concurrently\s+(\w+)/i.exec(text)?.[1]

/** Builds an index outside a transaction, without blocking writes to its table. */
export const buildIndex = Effect.fnUntraced(function* (index: string, { text }: SqlFile) {
  const sql = yield* SqlClient.SqlClient
  const [state] = yield* sql`
    select indisvalid as valid from pg_index where indexrelid = to_regclass(${index})`.pipe(decodeStates)
  // The index exists, because a process was killed before it recorded the file.
  if (state?.valid) return
  // An interrupted build leaves an invalid index that slows down writes.
  if (state) yield* sql`drop index concurrently ${sql(index)}`
  yield* sql.unsafe(text)
})

/** Reports the transactions that block the build of an index, whenever they change, until it is interrupted. */
export const reportBlockers = (
  sql: SqlClient.SqlClient,
  report: (message: string) => Effect.Effect<void>,
  pid: number,
  index: string,
): Effect.Effect<never> => {
  let reported = ""
  return Effect.gen(function* () {
    const blockers = yield* sql`
      select pid, application_name as name, to_char(xact_start, 'YYYY-MM-DD HH24:MI:SS TZ') as since
      from pg_stat_activity where pid = any(pg_blocking_pids(${pid})) and pid <> pg_backend_pid() order by xact_start`.pipe(
      decodeBlockers,
    )
    const names = blockers.map(({ pid, name, since }) => `${pid} (${name}, since ${since})`).join(", ")
    if (names !== "" && names !== reported) {
      yield* report(`The build of index ${index} waits for the transaction of process ${names}; writes continue.`)
    }
    reported = names
  }).pipe(Effect.repeat(Schedule.spaced("1 second")), Effect.ignore, Effect.andThen(Effect.never))
}
