import { Context, Option } from "effect"
import { Command, type HelpDoc } from "effect/cli"
import { expect, it } from "vitest"
import { Access } from "../src/command.ts"
import { everyCommand, helpOf, type Leaf } from "../src/everyCommand.ts"
import { loadGroups } from "../src/ops.ts"

const FILE = "../commands.md"

const HEAD = `<!-- Generated from the help of the commands by \`pnpm --filter @outreach/ops reference\`; edit that instead. -->

# Commands of ops

For operators who look up a flag. [README.md](README.md) explains commands by task; \`--help\` shows the same text.

- Every \`list\` has \`--limit\` (1 to 1000, default 50) and \`--after\`, the row before the next page.
- Commands that require confirmation have \`--yes\`, which is required without a terminal and with \`--output json\` or \`csv\`.
- Commands that change something or show personal data are recorded in [the audit log](README.md#the-audit-log).
`

/** Flags that the head of the page describes. */
const COMMON = ["limit", "after", "yes"]

const ACCESS = { reads: "", reveals: "Shows personal data.", changes: "Changes something." }

it("contains the help of every command", async () => {
  const root = Command.make("ops").pipe(Command.withSubcommands(await loadGroups("")))
  const sections = await Promise.all((await everyCommand()).map((leaf) => sectionOf(root, leaf)))
  await expect([HEAD, ...sections].join("\n")).toMatchFileSnapshot(FILE)
})

const sectionOf = async (root: Command.Command.Any, { path, command }: Leaf): Promise<string> => {
  const doc = await helpOf(root, path)
  const { description, usage, flags, args = [], examples = [] } = doc
  const access = Option.match(Context.getOption(command.annotations, Access), {
    onNone: () => "",
    onSome: (each) => ACCESS[each],
  })
  const inputs = [
    // The heading shows which arguments are required.
    ...args.map((each) => inputLine(each.name, each.description)),
    ...flags.filter(({ name }) => !COMMON.includes(name)).map(flagLine),
  ]
  const shown = examples.filter(({ command }) => command !== `ops ${path.join(" ")}`)
  return [
    `## \`${usage.replace(" [flags]", "")}\`\n`,
    `${description.replace(/\.?$/, ".")} ${access}`.trim(),
    "",
    ...(inputs.length === 0 ? [] : [...inputs, ""]),
    ...(shown.length === 0 ? [] : ["```sh", ...shown.map(({ command }) => command), "```", ""]),
  ].join("\n")
}

const flagLine = ({ name, type, required, description }: HelpDoc.FlagDoc): string => {
  const value = type === "boolean" ? "" : ` (${type}${required ? ", required" : ""})`
  return inputLine(`--${name}`, description, value)
}

const inputLine = (name: string, description: Option.Option<string>, value = ""): string =>
  `- \`${name}\`${value}: ${Option.getOrElse(description, () => "").replaceAll(/[<|]/g, "\\$&")}`
