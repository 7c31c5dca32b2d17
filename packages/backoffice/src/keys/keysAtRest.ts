import { orDieAs } from "@outreach/postgres/DatabaseFailure"
import { SecretCipher, SecretUnopened } from "@outreach/postgres/deliveries/SecretCipher"
import { decodeCount, rowsOf } from "@outreach/postgres/rowsOf"
import { Effect, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"

/** The tables with ciphertexts of `SecretCipher` in a column `ciphertext`, and the text column that identifies a row. */
const TABLES = [
  { table: "signing_secrets", id: "id" },
  { table: "endpoint_headers", id: "endpoint_id" },
  { table: "erasure_keys", id: "organization_id" },
  { table: "dkim_keys", id: "id" },
] as const
type Table = (typeof TABLES)[number]

const BATCH_SIZE = 200

const Row = Schema.Struct({ id: Schema.String, organizationId: Schema.String, ciphertext: Schema.Uint8Array })
type Row = typeof Row.Type
const ciphertexts = rowsOf(Row)

/** Reads ciphertexts of a table. `rest` continues the condition. */
const readRows = (sql: SqlClient.SqlClient, { table, id }: Table, rest: Statement.Fragment) =>
  sql`
    select ${ciphertexts.columns} from (select ${sql(id)} as id, organization_id, ciphertext from ${sql(table)}) stored
    where ciphertext is not null ${rest}`.pipe(ciphertexts.decode)

/** Fails with `SecretUnopened` if a cipher can't decrypt the newest signing secret, so that no data is encrypted with a key that no process has. */
export const assertKeyOpens = Effect.fnUntraced(function* ({ keyIdOf }: SecretCipher["Service"]) {
  const sql = yield* SqlClient.SqlClient
  const [newest] = yield* readRows(sql, TABLES[0], sql`order by id desc limit 1`)
  if (newest !== undefined && keyIdOf(newest.ciphertext, newest.organizationId) === undefined) {
    return yield* new SecretUnopened()
  }
})

export const countCiphertexts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const counts = yield* Effect.forEach(TABLES, ({ table }) =>
    sql`select count(ciphertext)::int as count from ${sql(table)}`.pipe(decodeCount),
  )
  return counts.reduce((total, count) => total + count, 0)
}).pipe(orDieAs("keysAtRest.count"))

/** Counts the ciphertexts of each table by key, newest key first, and those that no configured key decrypts, without a key id. */
export const listKeyUses = Effect.fnUntraced(function* (advance: Advance) {
  const { keyIds, keyIdOf } = yield* SecretCipher
  const uses: Array<{ readonly table: string; readonly keyId: string | null; readonly ciphertexts: number }> = []
  for (const each of TABLES) {
    const counts = new Map<string | null, number>(keyIds.map((id) => [id, 0]))
    yield* eachBatch(each, (rows) => {
      for (const { ciphertext, organizationId } of rows) {
        const keyId = keyIdOf(ciphertext, organizationId) ?? null
        counts.set(keyId, (counts.get(keyId) ?? 0) + 1)
      }
      return advance(rows.length)
    })
    uses.push(...Array.from(counts, ([keyId, ciphertexts]) => ({ table: each.table, keyId, ciphertexts })))
  }
  return uses
}, orDieAs("keysAtRest.list"))

/**
 * Encrypts every ciphertext of an older key again with the newest one, each with a statement that replaces a row only if it still has the
 * ciphertext that was read, so that no lock is awaited while another is held.
 */
export const resealCiphertexts = Effect.fnUntraced(function* (advance: Advance) {
  const sql = yield* SqlClient.SqlClient
  const { keyIds, keyIdOf, encrypt, decrypt } = yield* SecretCipher
  // Encrypted again, already under the newest key, and not decryptable.
  const result = { resealed: 0, already: 0, unopened: 0 }

  const reseal: (table: Table, row: Row) => Effect.Effect<void, SqlError.SqlError> = Effect.fnUntraced(function* (
    table,
    { id, ciphertext, organizationId },
  ) {
    const keyId = keyIdOf(ciphertext, organizationId)
    if (keyId === undefined) result.unopened++
    else if (keyId === keyIds[0]) result.already++
    else {
      const replaced = yield* sql`
          update ${sql(table.table)} set ciphertext = ${encrypt(decrypt(ciphertext, organizationId), organizationId)}
          where ${sql(table.id)} = ${id} and ciphertext = ${ciphertext} returning ciphertext`
      if (replaced.length > 0) result.resealed++
      // Another process has replaced or deleted it.
      else yield* Effect.forEach(yield* readRows(sql, table, sql`and id = ${id}`), (row) => reseal(table, row))
    }
  })

  for (const table of TABLES) {
    yield* eachBatch(table, (rows) =>
      Effect.andThen(
        Effect.forEach(rows, (row) => reseal(table, row)),
        advance(rows.length),
      ),
    )
  }
  return result
}, orDieAs("keysAtRest.reseal"))

/** Returns the number of finished ciphertexts since its last call, and resets it. */
type Advance = (ciphertexts: number) => Effect.Effect<void>

const eachBatch = Effect.fnUntraced(function* <E, R>(
  table: Table,
  use: (rows: ReadonlyArray<Row>) => Effect.Effect<void, E, R>,
) {
  const sql = yield* SqlClient.SqlClient
  let after = ""
  for (;;) {
    const rest = sql`and id > ${after} order by id limit ${BATCH_SIZE}`
    const rows: ReadonlyArray<Row> = yield* readRows(sql, table, rest)
    yield* use(rows)
    if (rows.length < BATCH_SIZE) return
    after = rows.at(-1)!.id
  }
})
