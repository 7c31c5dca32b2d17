import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A settable wall clock for processes that run in its environment: Debian's libfaketime, whose path is `library`. */
export const settableClock = async (library: string, atEnd: (end: () => Promise<void>) => void) => {
  const folder = await mkdtemp(join(tmpdir(), "outreach-clock-"))
  // The database runs as another user.
  await chmod(folder, 0o755)
  atEnd(() => rm(folder, { recursive: true, force: true }))
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
