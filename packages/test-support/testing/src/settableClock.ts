import { chmod, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { AtEnd } from "./startProcess.ts"
import { temporaryFolder } from "./temporaryFolder.ts"

/** A settable wall clock for processes that run in its environment: Debian's libfaketime, whose path is `library`. */
export const settableClock = async (library: string, atEnd: AtEnd) => {
  const folder = temporaryFolder("clock", atEnd)
  // The database runs as another user.
  await chmod(folder, 0o755)
  const file = join(folder, "offset")
  /** Sets the clock's offset in days. */
  const set = async (days: number) => {
    await writeFile(file, `${days < 0 ? "-" : "+"}${Math.abs(days)}d\n`, { mode: 0o644 })
  }
  await set(0)
  return {
    set,
    environment: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: "1",
      // Only the wall clock is wrong.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    },
  }
}
