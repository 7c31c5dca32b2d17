import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"

/** Gives a file's tests a temporary folder. Call it before the console starts. Returns a function that lists the files in the folder. */
export const temporaryFolder = () => {
  const before = process.env["TMPDIR"]
  const folder = mkdtempSync(join(tmpdir(), "console-"))
  beforeAll(() => {
    process.env["TMPDIR"] = folder
  })
  afterAll(() => {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
    rmSync(folder, { recursive: true })
  })
  return { folder, files: () => readdirSync(folder) }
}
