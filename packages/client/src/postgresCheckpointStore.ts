import { type CheckpointStore, parseCheckpoint, type TableOptions, tableOf } from "./CheckpointStore.ts"
import type { Checkpoint } from "./syncEvents.ts"

/** Any PostgreSQL client with a `query` method, such as `pg`, Neon or PGlite. */
export interface QueryClient {
  query(text: string, values: unknown[]): PromiseLike<{ readonly rows: readonly unknown[] }>
}

/** A store in PostgreSQL. */
export interface PostgresCheckpointStore extends CheckpointStore {
  /** Creates the table if it doesn't exist. */
  createTable(): Promise<void>
  load(): Promise<Checkpoint | undefined>
  /** Saves a checkpoint. Pass the client of the transaction that stores the events as `transaction`. */
  save(checkpoint: Checkpoint, transaction?: QueryClient): Promise<void>
}

/** Creates a store in PostgreSQL; call `createTable` once. Throws `RangeError` on table names that need quotes. */
export function postgresCheckpointStore(client: QueryClient, options: TableOptions = {}): PostgresCheckpointStore {
  const { table, name } = tableOf(options)
  return {
    async createTable() {
      await client.query(
        `create table if not exists ${table} (
           name text primary key,
           checkpoint jsonb not null,
           saved_at timestamptz not null default now()
         )`,
        [],
      )
    },
    async load() {
      const { rows } = await client.query(`select checkpoint::text from ${table} where name = $1`, [name])
      const [row] = rows as { readonly checkpoint: string }[]
      return row && parseCheckpoint(row.checkpoint, `The row ${JSON.stringify(name)} of ${table}`)
    },
    async save(checkpoint, transaction = client) {
      await transaction.query(
        `insert into ${table} (name, checkpoint) values ($1, $2::jsonb)
         on conflict (name) do update set checkpoint = excluded.checkpoint, saved_at = now()`,
        [name, JSON.stringify(checkpoint)],
      )
    },
  }
}
