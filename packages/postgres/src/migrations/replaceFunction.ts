import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlFile } from "../readSqlFiles.ts"
import { decodeRows } from "../rowsOf.ts"
import { sqlState } from "../sqlState.ts"

const INVALID_FUNCTION_DEFINITION = "42P13"

/**
 * Creates or replaces the function of a file.
 *
 * If its arguments or result changed, the function is dropped first. PostgreSQL rejects that while a default, trigger or index calls it.
 */
export const replaceFunction = Effect.fnUntraced(function* ({ name, text }: SqlFile) {
  const sql = yield* SqlClient.SqlClient
  const before = yield* signaturesOf(name)
  // Fails if the name or type of an argument or the result would change.
  yield* Effect.catchIf(
    sql.withTransaction(sql.unsafe(text)),
    (error) => sqlState(error) === INVALID_FUNCTION_DEFINITION,
    () => Effect.andThen(dropAll(before), sql.unsafe(text)),
  )
  // With different arguments PostgreSQL creates a second function with the same name.
  if ((yield* signaturesOf(name)).length > before.length) yield* dropAll(before)
})

const decodeSignatures = decodeRows({ signature: Schema.String })

export const dropFunction = (name: string) => Effect.flatMap(signaturesOf(name), dropAll)

const signaturesOf = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    select oid::regprocedure::text as signature from pg_proc
    where pronamespace = 'public'::regnamespace and proname = ${name}`.pipe(decodeSignatures)
})

const dropAll = Effect.fnUntraced(function* (functions: ReadonlyArray<{ readonly signature: string }>) {
  const sql = yield* SqlClient.SqlClient
  for (const { signature } of functions) yield* sql.unsafe(`drop function ${signature}`)
})
