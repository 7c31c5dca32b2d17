import type { AnyField, Fields } from "@outreach/backoffice/operations/Field"
import { MAX_TEMPLATE_BYTES } from "@outreach/domain/mail/TemplateText"
import { parseInput } from "@outreach/domain/parseInput"
import { Effect, FileSystem } from "effect"
import { refusal } from "../output/Output.ts"

/** Replaces the files that a command has for fields of many lines by their texts. */
export const readTexts = Effect.fnUntraced(function* (fields: Fields, given: Readonly<Record<string, unknown>>) {
  const read = ([key, value]: readonly [string, unknown]) =>
    typeof value === "string" && fields[key]?.control.kind === "lines"
      ? Effect.map(readText(key, fields[key], value), (text) => [key, text] as const)
      : Effect.succeed([key, value] as const)
  return Object.fromEntries(yield* Effect.forEach(Object.entries(given), read))
})

/** Reads a text from a file: UTF-8, at most 1 MiB. */
const readText = Effect.fnUntraced(function* (key: string, { schema, control: { label } }: AnyField, file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const tag = `${key[0]!.toUpperCase()}${key.slice(1)}Unusable`
  const unusable = (reason: string) => refusal(tag, `The ${label} file ${file} ${reason}.`, { file, reason })
  const unreadable = Effect.mapError(({ reason }: { reason: { _tag: string } }) =>
    unusable(reason._tag === "NotFound" ? "does not exist" : "cannot be read"),
  )
  const { type, size } = yield* unreadable(stat(file))
  if (type !== "File") return yield* Effect.fail(unusable("is not a regular file"))
  if (size > MAX_TEMPLATE_BYTES) return yield* Effect.fail(unusable("holds more than 1 MiB"))
  const bytes = yield* unreadable(readFile(file))
  const text = yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => unusable("is not text in UTF-8"),
  })
  return yield* Effect.mapError(Effect.fromResult(parseInput<unknown, string>(schema)(text)), ({ reason }) =>
    unusable(reason.replace("it ", "")),
  )
})
