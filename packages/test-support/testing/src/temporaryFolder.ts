import { mkdtempSync } from "node:fs"
import { rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"
import type { AtEnd } from "./startProcess.ts"

/** Creates a folder for a test's files. It is removed at the end of the test, or when `atEnd` calls back. */
export const temporaryFolder = (name: string, atEnd: AtEnd = onTestFinished): string => {
  const folder = mkdtempSync(join(tmpdir(), `outreach-${name}-`))
  // A server may still write to the folder if the test has killed its parent.
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}
