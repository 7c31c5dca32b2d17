import { Effect, FileSystem } from "effect"
import { refusal } from "../output/refuse.ts"

const NAMES = { html: ["HtmlUnusable", "HTML"], text: ["TextUnusable", "text"] } as const

const MAX_BYTES = 1_048_576

/** Reads a part of a campaign's body from a file: UTF-8, at most 1 MiB, not blank. */
export const readTemplate = Effect.fnUntraced(function* (part: "html" | "text", file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const [tag, name] = NAMES[part]
  const unusable = (reason: string) => refusal(tag, `The ${name} file ${file} ${reason}.`, { file, reason })
  const unreadable = Effect.mapError(({ reason }: { reason: { _tag: string } }) =>
    unusable(reason._tag === "NotFound" ? "does not exist" : "cannot be read"),
  )
  const { type, size } = yield* unreadable(stat(file))
  if (type !== "File") return yield* Effect.fail(unusable("is not a regular file"))
  if (size > MAX_BYTES) return yield* Effect.fail(unusable("holds more than 1 MiB"))
  const bytes = yield* unreadable(readFile(file))
  const template = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("is not text in UTF-8"),
  })
  if (template.trim() === "") return yield* Effect.fail(unusable("is blank"))
  if (template.includes("\0")) return yield* Effect.fail(unusable("is not text in UTF-8"))
  return template
})
