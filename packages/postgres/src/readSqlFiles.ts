import { createHash } from "node:crypto"
import { readdir, readFile } from "node:fs/promises"
import { Effect } from "effect"

export interface SqlFile {
  /** The path under `sql/`, as recorded in the database. */
  readonly file: string
  /** The file's name without `.sql`, which is also the name of a function. */
  readonly name: string
  readonly text: string
  /** The SHA-256 of the text, in hex. */
  readonly checksum: string
}

/** The files of a release's schema: table migrations in order, and the current version of each function. */
export interface SqlFiles {
  readonly migrations: ReadonlyArray<SqlFile>
  readonly functions: ReadonlyArray<SqlFile>
}

/** The folder of `migrations/*.sql` and `functions/*.sql`. */
export const SQL_FOLDER = new URL(".", import.meta.resolve("#sql/migrations"))

/** Reads `migrations/*.sql` and `functions/*.sql` of a folder, sorted by name. Default: the folder of `#sql/*` in `package.json`. */
export const readSqlFiles = (folder: URL = SQL_FOLDER): Effect.Effect<SqlFiles> =>
  Effect.all({
    migrations: Effect.promise(() => readFolder(folder, "migrations")),
    functions: Effect.promise(() => readFolder(folder, "functions")),
  })

async function readFolder(folder: URL, kind: keyof SqlFiles): Promise<ReadonlyArray<SqlFile>> {
  const entries = await readdir(new URL(kind, folder))
  return Promise.all(
    entries
      .filter((entry) => entry.endsWith(".sql"))
      .sort()
      .map(async (entry) => {
        const file = `${kind}/${entry}`
        // Git may check out different line endings. This keeps the checksum the same everywhere.
        const text = (await readFile(new URL(file, folder), "utf8")).replaceAll("\r\n", "\n")
        const checksum = createHash("sha256").update(text).digest("hex")
        return { file, name: entry.slice(0, -".sql".length), text, checksum }
      }),
  )
}
