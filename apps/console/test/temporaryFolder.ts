import { readdirSync } from "node:fs"
import { temporaryFolder as createFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, beforeAll } from "vitest"

/** Gives a file's tests a temporary folder. Call it before the console starts. Returns a function that lists the files in the folder. */
export const temporaryFolder = () => {
  const before = process.env["TMPDIR"]
  const folder = createFolder("console", afterAll)
  beforeAll(() => {
    process.env["TMPDIR"] = folder
  })
  afterAll(() => {
    if (before === undefined) delete process.env["TMPDIR"]
    else process.env["TMPDIR"] = before
  })
  return { folder, files: () => readdirSync(folder) }
}
