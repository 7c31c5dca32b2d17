import { field } from "@outreach/backoffice/operations/Field"
import { operation } from "@outreach/backoffice/operations/Operation"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { command } from "../command.ts"
import { group } from "../group.ts"
import { formatRecord, formatRows } from "../output/Output.ts"

/** The name of a file, which may contain commas. */
const File = textSchema("a file", (text): ReadonlyArray<string> => [text])

const explain = operation("bounces explain", {
  access: "reads",
  about:
    "Classify returned messages: kind, rule, confidence, whether they belong to a message of this deployment, and their effect. Doesn't print their text",
  input: {
    files: field(File, "Files of one message each, folders of such files, or - for standard input", {
      isArgument: true,
      isRepeated: true,
    }),
  },
  run: Effect.fnUntraced(function* ({ files = [] }) {
    const { explainFiles } = yield* Effect.promise(() => import("../bounces/explainFiles.ts"))
    return yield* explainFiles(files)
  }),
  examples: ["ops bounces explain bounce.eml", "ops bounces explain Maildir/new", "ops bounces explain - < bounce.eml"],
})

export const bounces = group("bounces", "What came back of e-mails: bounces and complaints", [
  command(explain, {
    format: ({ messages, summary }) =>
      messages.length === 1
        ? formatRecord(messages[0]!)
        : [
            formatRows(messages, ["file", "kind", "verdict", "status", "sureness", "rule", "seal"]),
            formatRows(summary, ["kind", "verdict", "sureness", "messages"]),
          ],
  }),
])
