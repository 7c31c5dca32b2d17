import { runMigrations } from "./migrations/runMigrations.ts"

/** Migrates the database to the newest schema; returns the files of `sql/` that were applied. */
export const migrate = runMigrations()
