import { createCampaign } from "@outreach/backoffice/operations/campaigns"
import { MAX_TEMPLATE_BYTES, TemplateText } from "@outreach/domain/mail/TemplateText"
import { parseInput } from "@outreach/domain/parseInput"
import { Effect, FileSystem } from "effect"
import { operatorOrUser } from "../audit/audited.ts"
import { changing } from "../Declaration.ts"
import { optional, text } from "../inputs/Input.ts"
import { inputsOf } from "../operationCommand.ts"
import { refusal } from "../output/Output.ts"

/** Reads the body from files instead of text areas. */
export const create = changing({
  about: createCampaign.about,
  examples: createCampaign.examples!,
  input: {
    ...inputsOf(createCampaign.input),
    html: text("The file of the e-mails' HTML body, with the same placeholders as the subject", "file"),
    text: optional(text("The file of the e-mails' text part. Default: generated from the HTML", "file")),
  },
  *run({ html: htmlFile, text: textFile, ...input }) {
    const html = yield* readTemplate("html", htmlFile)
    const text = textFile === undefined ? {} : { text: yield* readTemplate("text", textFile) }
    return yield* createCampaign.run({ ...input, html, ...text }, yield* operatorOrUser)
  },
})

const NAMES = { html: ["HtmlUnusable", "HTML"], text: ["TextUnusable", "text"] } as const

const parseTemplate = parseInput(TemplateText)

/** Reads a part of a campaign's body from a file: UTF-8, at most 1 MiB, not blank. */
const readTemplate = Effect.fnUntraced(function* (part: "html" | "text", file: string) {
  const { stat, readFile } = yield* FileSystem.FileSystem
  const [tag, name] = NAMES[part]
  const unusable = (reason: string) => refusal(tag, `The ${name} file ${file} ${reason}.`, { file, reason })
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
  return yield* Effect.mapError(Effect.fromResult(parseTemplate(text)), ({ reason }) =>
    unusable(reason.replace("it ", "")),
  )
})
