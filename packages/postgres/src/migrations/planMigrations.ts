import { DescribedError } from "@outreach/domain/DescribedError"
import { Effect } from "effect"
import type { SqlFile, SqlFiles } from "../readSqlFiles.ts"

/** The database was created from different files. */
export class MigrationMismatch extends DescribedError("MigrationMismatch", "{reason}") {}

export interface MigrationPlan extends SqlFiles {
  readonly removed: ReadonlyArray<string>
  /** True if a newer release has migrated the database; no work is left then. */
  readonly isNewer: boolean
}

/** Compares the files with the checksums of the applied files, and returns the pending ones. */
export const planMigrations = Effect.fnUntraced(function* (
  { migrations, functions }: SqlFiles,
  applied: ReadonlyMap<string, string>,
) {
  const appliedMigrations = [...applied.keys()].filter((file) => file.startsWith("migrations/")).sort()
  const newest = appliedMigrations.at(-1) ?? ""
  const last = migrations.at(-1)?.file ?? ""
  for (const { file, checksum } of migrations) {
    const known = applied.get(file)
    if (known === undefined && file < newest) {
      return yield* mismatch(`${file} comes before ${newest}, which is already applied. Use the next number.`)
    }
    if (known !== undefined && known !== checksum) {
      return yield* mismatch(
        `${file} was changed after it was applied to this database. Restore the file, and put the change into a file with the next number. If the change was never released, migrate an empty database instead; for a sandbox, start it with \`--fresh\` or with a new \`--folder\`.`,
      )
    }
  }
  const missing = appliedMigrations.find((file) => file < last && migrations.every((each) => each.file !== file))
  if (missing !== undefined) {
    return yield* mismatch(`${missing} was applied to this database, but is missing. Restore the file.`)
  }
  if (newest > last) return { migrations: [], functions: [], removed: [], isNewer: true } satisfies MigrationPlan
  const isNew = ({ file, checksum }: SqlFile) => applied.get(file) !== checksum
  const removed = [...applied.keys()].filter(
    (file) => file.startsWith("functions/") && functions.every((each) => each.file !== file),
  )
  return {
    migrations: migrations.filter(isNew),
    functions: functions.filter(isNew),
    removed,
    isNewer: false,
  } satisfies MigrationPlan
})

/**
 * Returns the files of a release that aren't applied. A function with a different text isn't pending, because releases that run side by
 * side share functions. A database that a newer release migrated has no pending files.
 */
export const missingFiles = (files: SqlFiles, applied: ReadonlySet<string>): ReadonlyArray<string> =>
  isMigratedBeyond(files, applied)
    ? []
    : [...files.migrations, ...files.functions].map(({ file }) => file).filter((file) => !applied.has(file))

/** Returns the functions of a release that a newer release has removed. They may still be in use by the older release. */
export const removedFunctions = (files: SqlFiles, applied: ReadonlySet<string>): ReadonlyArray<string> =>
  isMigratedBeyond(files, applied)
    ? files.functions
        .map(({ file }) => file.slice("functions/".length, -".sql".length))
        .filter((name) => !applied.has(`functions/${name}.sql`))
    : []

const isMigratedBeyond = ({ migrations }: SqlFiles, applied: ReadonlySet<string>): boolean => {
  const last = migrations.at(-1)?.file ?? ""
  return [...applied].some((file) => file.startsWith("migrations/") && file > last)
}

const mismatch = (reason: string) => new MigrationMismatch({ reason })
