import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, ConfigProvider, Console, Effect, Exit } from "effect"
import { CliError, Command, type HelpDoc } from "effect/cli"
import { describe, expect, it } from "vitest"
import { helpOf } from "../src/completion/complete.ts"
import { globalFlags, loadGroups } from "../src/ops.ts"
import { formatHelp, HELP_WIDTH } from "../src/output/formatHelp.ts"

const root = Command.make("ops").pipe(
  Command.withSubcommands(await loadGroups("")),
  Command.withGlobalFlags(globalFlags.slice(0, 1)),
)

const pathsBelow = (
  command: Command.Command.Any,
  path: ReadonlyArray<string>,
): ReadonlyArray<ReadonlyArray<string>> => {
  const below = command.subcommands.flatMap(({ commands }) => commands)
  return [path, ...below.flatMap((each) => pathsBelow(each, [...path, each.name]))]
}
const paths = pathsBelow(root, [])
const docs = await Effect.runPromise(
  Effect.forEach(paths, (path) => Effect.map(helpOf(root, path), (doc) => [path.join(" "), doc] as const)).pipe(
    Effect.provide(NodeServices.layer),
  ),
)
const leaves = docs.filter(([, { subcommands = [] }]) => subcommands.length === 0)

/** Returns the words of an example as a shell makes them of it, with whole ids. */
const wordsOf = (example: string): ReadonlyArray<string> => {
  const [, ...words] = [...example.replace(/ (?:>>?|<) .*/, "").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  )
  return words.map((word) => word.replace(/_…$/, `_${"0".repeat(32)}`).replace("5f0c…", "5f0c".repeat(16)))
}

const parse = async (words: ReadonlyArray<string>) => {
  const run = Command.runWith(root as Command.Command<string, unknown>, { version: "" })(words)
  const exit = await Effect.runPromiseExit(
    run.pipe(
      Effect.provide(NodeServices.layer),
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: {} })),
      Effect.provideService(Console.Console, { ...globalThis.console, log: () => {}, error: () => {} } as never),
    ),
  )
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return CliError.isCliError(error) && error._tag === "ShowHelp" ? error.errors.map(({ message }) => message) : []
}

describe("every command", () => {
  it.each(docs)(`has a help within ${HELP_WIDTH} columns: %s`, (_, doc) => {
    expect(
      formatHelp(doc)
        .split("\n")
        .filter((line) => line.length > HELP_WIDTH),
    ).toEqual([])
  })

  it.each(leaves)("has examples that it takes: %s", async (path, { examples = [] }: HelpDoc.HelpDoc) => {
    expect(examples.length).toBeGreaterThan(0)
    for (const { command } of examples) {
      expect(command.startsWith(`ops ${path}`)).toBe(true)
      // These would run: they need no database, or connect to it by themselves.
      if (/^ops (?:doctor|status|bounces)/.test(command)) continue
      expect([command, await parse(wordsOf(command))]).toEqual([command, []])
    }
  })
})

it("breaks a long example as a shell takes it, and never within quotes", () => {
  const command = `ops campaigns create --name "${"a b ".repeat(30)}" --subject 'x y' --window-start 2026-12-01T09:00:00Z`
  const help = formatHelp({
    description: "",
    usage: "",
    flags: [],
    annotations: docs[0]![1].annotations,
    examples: [{ command }],
  })
  expect(
    help
      .split("EXAMPLES\n")[1]!
      .replaceAll(/ \\\n +/g, " ")
      .trim(),
  ).toBe(command)
})
