import { mkdtempSync } from "node:fs"
import { mkdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll } from "vitest"

/** Gives a test file a way to write the SQL files of releases, each into a folder of its own; they go after its tests. */
export const sqlFolders = (): ((files: Readonly<Record<string, string>>) => Promise<URL>) => {
  const root = mkdtempSync(join(tmpdir(), "sql-"))
  afterAll(() => rm(root, { recursive: true }))
  let releases = 0
  return async (files) => {
    releases += 1
    const folder = join(root, String(releases))
    for (const kind of ["migrations", "functions"]) await mkdir(join(folder, kind), { recursive: true })
    for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text)
    return pathToFileURL(`${folder}/`)
  }
}
