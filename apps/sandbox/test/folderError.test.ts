import { mkdir, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { expect, it } from "vitest"
import { folderError } from "../src/SandboxError.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

it.each([
  [{ code: "ENOSPC" }, "the disk is full"],
  [{ code: "EROFS" }, "the file system is read-only"],
  [{ code: "EACCES" }, "permission is denied"],
  [new Error('initdb: error: could not write to file "x": No space left on device'), "the disk is full"],
  [new Error("EROFS: read-only file system, mkdir '/x'"), "the file system is read-only"],
])("explains %j", (error, reason) => {
  expect(folderError("/x", error)).toContain(`/x cannot be written: ${reason}`)
})

it("explains what the file system really says, and nothing else", async () => {
  const file = join(await temporaryFolder("sandbox"), "file")
  await writeFile(file, "")
  const error = await mkdir(join(file, "below"), { recursive: true }).catch((cause: unknown) => cause)
  expect(folderError(file, error)).toContain("a part of the path is not a folder")
  expect(folderError(file, new Error("The database is of another version."))).toBeUndefined()
  expect(folderError(file, undefined)).toBeUndefined()
})
