import { readFileSync, statSync } from "node:fs"
import { Result } from "effect"

const MAX_BYTES = 65_536

/** Reads a settings file as UTF-8. Fails with a description that doesn't quote the content. */
export const readSmallFile = (path: string): Result.Result<string, string> => {
  try {
    const stats = statSync(path)
    if (!stats.isFile()) return Result.fail("is not a regular file")
    if (stats.size > MAX_BYTES) return Result.fail("exceeds 64 KiB")
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(path))
    if (text.startsWith("\uFEFF")) return Result.fail("starts with a byte order mark")
    return text.includes("\0") ? Result.fail("is not a text") : Result.succeed(text)
  } catch (error) {
    if (error instanceof TypeError) return Result.fail("is not a text in UTF-8")
    const { code } = error as NodeJS.ErrnoException
    return Result.fail(code === "ENOENT" ? "does not exist" : `cannot be read (${code})`)
  }
}
