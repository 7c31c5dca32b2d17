import { Effect, FileSystem, Schema } from "effect"

/** The HTML file of a campaign's body cannot be used. */
export class HtmlUnusable extends Schema.TaggedError<HtmlUnusable>()("HtmlUnusable", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `The HTML file ${this.file} ${this.reason}.`
  }
}

/** The file of a campaign's text part cannot be used. */
export class TextUnusable extends Schema.TaggedError<TextUnusable>()("TextUnusable", {
  file: Schema.String,
  reason: Schema.String,
}) {
  override get message(): string {
    return `The text file ${this.file} ${this.reason}.`
  }
}

const UNUSABLE = { html: HtmlUnusable, text: TextUnusable } as const

const MAX_BYTES = 1_048_576

/** Reads a part of a campaign's body from a file: UTF-8, at most 1 MiB, not blank. */
export const readTemplate = Effect.fnUntraced(function* (part: "html" | "text", file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const unusable = (reason: string) => new UNUSABLE[part]({ file, reason })
  const unreadable = Effect.mapError(({ reason }: { reason: { _tag: string } }) =>
    unusable(reason._tag === "NotFound" ? "does not exist" : "cannot be read"),
  )
  const { type, size } = yield* unreadable(stat(file))
  if (type !== "File") return yield* unusable("is not a regular file")
  if (size > MAX_BYTES) return yield* unusable("holds more than 1 MiB")
  const bytes = yield* unreadable(readFile(file))
  const template = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("is not text in UTF-8"),
  })
  if (template.trim() === "") return yield* unusable("is blank")
  if (template.includes("\0")) return yield* unusable("is not text in UTF-8")
  return template
})
