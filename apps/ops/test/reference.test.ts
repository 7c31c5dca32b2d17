import * as NodeServices from "@effect/platform-node/NodeServices"
import { Context, Effect, Option } from "effect"
import { CliOutput, Command, type HelpDoc } from "effect/cli"
import { expect, it } from "vitest"
import { Access } from "../src/Declaration.ts"
import { loadGroups } from "../src/ops.ts"

const FILE = "../commands.md"

const HEAD = `<!-- Generated from the help of the commands by \`pnpm --filter @outreach/ops reference\`; edit that instead. -->

# Commands of ops

The help of every command, as \`ops <subject> <command> --help\` shows it. [README.md](README.md) explains them by subject. Commands that change something
or show personal data are recorded in [the audit log](README.md#the-audit-log).
`

const ACCESS = { reads: "", reveals: "Shows personal data.", changes: "Changes something." }

it("holds the help of every command", async () => {
  const groups = await loadGroups("")
  const root = Command.make("ops").pipe(Command.withSubcommands(groups))
  const sections = await Promise.all(leavesOf(root, []).map((leaf) => sectionOf(root, leaf)))
  await expect([HEAD, ...sections].join("\n")).toMatchFileSnapshot(FILE)
})

interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly command: Command.Command.Any
}

/** Returns the commands below a command that have no subcommands. */
const leavesOf = (command: Command.Command.Any, path: ReadonlyArray<string>): ReadonlyArray<Leaf> => {
  const subcommands = command.subcommands.flatMap(({ commands }) => commands)
  if (subcommands.length === 0) return [{ path, command }]
  return subcommands.flatMap((each) => leavesOf(each, [...path, each.name]))
}

const sectionOf = async (root: Command.Command.Any, { path, command }: Leaf): Promise<string> => {
  const { description, usage, flags, args = [], examples = [] } = await helpOf(root, path)
  const access = Option.match(Context.getOption(command.annotations, Access), {
    onNone: () => "",
    onSome: (each) => ACCESS[each],
  })
  const inputs = [
    ...args.map((each) => inputLine(each.name, each)),
    ...flags.map((each) => inputLine(`--${each.name}`, each)),
  ]
  return [
    `## \`${usage.replace(" [flags]", "")}\`\n`,
    `${description.replace(/\.?$/, ".")} ${access}`.trim(),
    "",
    ...(inputs.length === 0 ? [] : [...inputs, ""]),
    ...(examples.length === 0 ? [] : ["```console", ...examples.map(({ command }) => `$ ${command}`), "```", ""]),
  ].join("\n")
}

const inputLine = (name: string, { type, required, description }: HelpDoc.FlagDoc | HelpDoc.ArgDoc): string => {
  const value = type === "boolean" ? "" : ` (${type}${required ? ", required" : ""})`
  return `- \`${name}\`${value}: ${Option.getOrElse(description, () => "").replaceAll(/[<|]/g, "\\$&")}`
}

/** Runs a command with `--help`, and returns what it would print. */
const helpOf = (root: Command.Command.Any, path: ReadonlyArray<string>): Promise<HelpDoc.HelpDoc> =>
  new Promise((resolve, reject) => {
    const presenter: CliOutput.Presenter = {
      present: (event) => Effect.sync(() => (event._tag === "Help" ? resolve(event.helpDoc) : undefined)),
    }
    // The help needs none of the services that the commands need.
    const run = Command.runWith(root as Command.Command<string, unknown>, { version: "" })([...path, "--help"])
    Effect.runPromise(
      run.pipe(Effect.provideService(CliOutput.Presenter, presenter), Effect.provide(NodeServices.layer)),
    ).catch(reject)
  })
