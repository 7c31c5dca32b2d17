import { Option } from "effect"
import type { HelpDoc } from "effect/cli"

/** The name of the command line in its help and its completions. A wrapper, such as deploy/outreach-ops, sets its own name. */
export const COMMAND_NAME: string = process.env["OPS_COMMAND"] ?? "ops"

/** Maximum columns of the help. */
export const HELP_WIDTH = 100

const MAX_LEFT = 30

/** Formats the help of a command within `HELP_WIDTH` columns. */
export const formatHelp = (doc: HelpDoc.HelpDoc): string => {
  const { description, usage, args = [], flags, subcommands = [], examples = [] } = doc
  const globalFlags = [...(doc.inheritedFlags ?? []), ...(doc.globalFlags ?? [])]
  return [
    section("DESCRIPTION", wrap(description, 2)),
    section("USAGE", [`  ${usage}`]),
    section("ARGUMENTS", args.flatMap(inputRow((name) => name))),
    section("FLAGS", flags.flatMap(inputRow((name) => `--${name}`))),
    section("GLOBAL FLAGS", globalFlags.flatMap(inputRow((name) => `--${name}`))),
    section(
      "SUBCOMMANDS",
      subcommands.flatMap(({ commands }) => commands.flatMap(({ name, description }) => row(name, description, 20))),
    ),
    section(
      "EXAMPLES",
      examples.flatMap(({ command }) => wrapCommand(command.replace(/^ops\b/, COMMAND_NAME))),
    ),
  ]
    .filter((text) => text !== "")
    .join("\n\n")
}

const section = (title: string, lines: ReadonlyArray<string>): string =>
  lines.length === 0 ? "" : [title, ...lines].join("\n")

const inputRow =
  (nameOf: (name: string) => string) =>
  ({ name, type, required, description }: HelpDoc.FlagDoc | HelpDoc.ArgDoc) =>
    row(
      `${nameOf(name)}${type === "boolean" ? "" : ` ${type}`}`,
      `${required && type !== "boolean" ? "Required. " : ""}${Option.getOrElse(description, () => "")}`,
      MAX_LEFT,
    )

/** Writes a name next to its description, or above it if the name is long. */
const row = (name: string, description: string, left: number): ReadonlyArray<string> => {
  const [first = "", ...others] = wrap(description, left + 2)
  const head = `  ${name}`
  return head.length > left ? [head, first, ...others] : [head.padEnd(left + 2) + first.trimStart(), ...others]
}

const wrap = (text: string, indent: number): ReadonlyArray<string> => fill(text.split(/\s+/), indent, indent, "")

/** Breaks a command for a shell: before a word, after a backslash. */
const wrapCommand = (command: string): ReadonlyArray<string> =>
  fill(command.match(/(?:"[^"]*"|'[^']*'|[^\s"']+)+/g) ?? [], 2, 4, " \\")

const fill = (words: ReadonlyArray<string>, indent: number, next: number, end: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length + end.length <= HELP_WIDTH)
      lines[lines.length - 1] += ` ${word}`
    else lines.push(`${" ".repeat(last === undefined ? indent : next)}${word}`)
  }
  return lines.map((line, i) => (i < lines.length - 1 ? line + end : line))
}
