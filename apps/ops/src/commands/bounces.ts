import { Effect } from "effect"
import { group, reading } from "../Declaration.ts"
import { several, textArgument } from "../inputs/Input.ts"
import { formatRecord, formatRows } from "../output/Output.ts"

const explain = reading({
  about:
    "Classify returned messages: kind, rule, confidence, whether they belong to a message of this deployment, and their effect. Doesn't print their text",
  examples: ["ops bounces explain bounce.eml", "ops bounces explain Maildir/new", "ops bounces explain - < bounce.eml"],
  input: {
    files: several(textArgument("Files of one message each, folders of such files, or - for standard input")),
  },
  *run({ files }) {
    const { explainFiles } = yield* Effect.promise(() => import("../bounces/explainFiles.ts"))
    return yield* explainFiles(files)
  },
  format: ({ messages, summary }) =>
    messages.length === 1
      ? formatRecord(messages[0]!)
      : [
          formatRows(messages, ["file", "kind", "verdict", "status", "sureness", "rule", "seal"]),
          formatRows(summary, ["kind", "verdict", "sureness", "messages"]),
        ],
})

export const bounces = group({
  about: "What came back of e-mails: bounces and complaints",
  commands: { explain },
})
