import { open, readFile, rename } from "node:fs/promises"
import { dirname, resolve } from "node:path"
import { type CheckpointStore, parseCheckpoint } from "./CheckpointStore.ts"
import type { Checkpoint } from "./syncEvents.ts"

/** A store in a file. */
export interface FileCheckpointStore extends CheckpointStore {
  load(): Promise<Checkpoint | undefined>
  save(checkpoint: Checkpoint): Promise<void>
}

/**
 * Creates a store in a file for one process. The folder must exist.
 *
 * Writes a temporary file, flushes it and renames it, so that a crash leaves either the old or the new checkpoint.
 */
export function fileCheckpointStore(path: string): FileCheckpointStore {
  const file = resolve(path)
  const draft = `${file}.tmp`
  let last: Promise<void> = Promise.resolve()

  async function write(text: string): Promise<void> {
    await flush(draft, "w", text)
    await rename(draft, file)
    // Without this, a power failure can undo the rename. Windows can't flush folders.
    if (process.platform !== "win32") await flush(dirname(file), "r")
  }

  return {
    async load() {
      let text: string
      try {
        text = await readFile(file, "utf8")
      } catch (error) {
        if ((error as { code?: unknown }).code === "ENOENT") return undefined
        throw error
      }
      return parseCheckpoint(text, file)
    },
    save(checkpoint) {
      const text = `${JSON.stringify(checkpoint)}\n`
      // Sequential, because concurrent saves would write the same temporary file.
      const saved = last.then(() => write(text))
      last = saved.catch(() => {})
      return saved
    },
  }
}

/** Writes optional text to a file, then flushes the file or folder to disk. */
async function flush(path: string, flags: "r" | "w", text?: string): Promise<void> {
  const handle = await open(path, flags)
  try {
    if (text !== undefined) await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
}
