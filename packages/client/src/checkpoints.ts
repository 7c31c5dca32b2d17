export type { CheckpointStore, TableOptions } from "./CheckpointStore.ts"
export { type PostgresCheckpointStore, postgresCheckpointStore, type QueryClient } from "./postgresCheckpointStore.ts"
export { type SqliteCheckpointStore, type SqliteDatabase, sqliteCheckpointStore } from "./sqliteCheckpointStore.ts"
