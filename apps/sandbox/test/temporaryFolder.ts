import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { AtEnd } from "@outreach/testing/startProcess"
import { onTestFinished } from "vitest"

/** Creates a folder for a test's files. It is removed at the end. */
export const temporaryFolder = async (name: string, atEnd: AtEnd = onTestFinished): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), `outreach-${name}-`))
  // A server may still write to the folder if the test has killed its parent.
  atEnd(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }))
  return folder
}
