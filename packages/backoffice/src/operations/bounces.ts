import { textSchema } from "@outreach/domain/textSchema"
import { Effect } from "effect"
import { field } from "./Field.ts"
import { operation, rowsPart } from "./Operation.ts"

// Loaded when needed, because it loads the parser of messages.
const explanations = Effect.promise(() => import("../bounces/explainFiles.ts"))

/** The name of a file, which may contain commas. */
const File = textSchema("a file", (text): ReadonlyArray<string> => [text])

export const explainBounces = operation("bounces explain", {
  access: "reads",
  about:
    "Classify returned messages: kind, rule, confidence, whether they belong to a message of this deployment, and their effect. Doesn't print their text",
  input: {
    files: field(File, "Files of one message each, folders of such files, or - for standard input", {
      isArgument: true,
      isRepeated: true,
    }),
  },
  *run({ files = [] }) {
    return yield* (yield* explanations).explainFiles(files)
  },
  show: ({ messages, summary }) =>
    messages.length === 1
      ? [{ fields: messages[0]! }]
      : [
          rowsPart(messages, ["file", "kind", "verdict", "status", "sureness", "rule", "seal"]),
          rowsPart(summary, ["kind", "verdict", "sureness", "messages"]),
        ],
  examples: ["ops bounces explain bounce.eml", "ops bounces explain Maildir/new", "ops bounces explain - < bounce.eml"],
})
