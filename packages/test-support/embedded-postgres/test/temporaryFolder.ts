import { chmod, mkdtemp, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished } from "vitest"

/** Creates a folder that every user may enter, removed after the test. */
export async function temporaryFolder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "embedded-postgres-test-")))
  await chmod(path, 0o755)
  // A server whose parent was killed may still be writing.
  onTestFinished(() => rm(path, { recursive: true, force: true, maxRetries: 10 }))
  return path
}
