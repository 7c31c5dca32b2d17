import * as NodeServices from "@effect/platform-node/NodeServices"
import { Cause, Effect, Exit } from "effect"
import { CliError, CliOutput, Command, type HelpDoc } from "effect/cli"
import { loadGroups, sharedFlags } from "./ops.ts"

/** A command without subcommands, with its words. */
export interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly command: Command.Command.Any
}

/** Returns every runnable command in the order of the help. */
export const everyCommand = async (): Promise<ReadonlyArray<Leaf>> => leavesOf(await loadGroups(""), [])

const leavesOf = (commands: ReadonlyArray<Command.Command.Any>, above: ReadonlyArray<string>): ReadonlyArray<Leaf> =>
  commands.flatMap((command) => {
    const path = [...above, command.name]
    const below = command.subcommands.flatMap(({ commands }) => commands)
    return below.length > 0 ? leavesOf(below, path) : [{ path, command }]
  })

/** Runs a command with `--help`, and returns the printed help. */
export const helpOf = async (root: Command.Command.Any, path: ReadonlyArray<string>): Promise<HelpDoc.HelpDoc> => {
  let doc: HelpDoc.HelpDoc | undefined
  const present = (event: CliOutput.Presenter.Event) =>
    Effect.sync(() => {
      if (event._tag === "Help") doc = event.helpDoc
    })
  // The help doesn't need the services of the commands.
  const run = Command.runWith(root as Command.Command<string, unknown>, { version: "" })([...path, "--help"])
  await Effect.runPromise(
    run.pipe(Effect.provideService(CliOutput.Presenter, { present }), Effect.provide(NodeServices.layer)),
  )
  return doc!
}

/** Values that replace `…`, by the flag before it. */
const VALUES: Readonly<Record<string, string>> = {
  "--email": "dana@clinic.example",
  "--npi": "1234567893",
  "--from": "2026-11-01T09:00:00Z",
  "--to": "2026-11-01T17:00:00Z",
  "--token": "a1B2c3",
  "--window-start": "2026-12-01T09:00:00Z",
  "--window-end": "2026-12-01T17:00:00Z",
}

/** Returns the words of an example as a shell splits them, with complete ids of objects that don't exist. */
export const wordsOf = (example: string): ReadonlyArray<string> => {
  const [, ...words] = [...example.replace(/ (?:>>?|<) .*/, "").matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain!,
  )
  return words.map((word, i) =>
    word === "…"
      ? (VALUES[words[i - 1] ?? ""] ?? "x".repeat(32))
      : word.replace(/_…$/, `_${"0".repeat(32)}`).replace("5f0c…", "5f0c".repeat(16)),
  )
}

/** Creates a function that parses the words of a command line with the real commands, and returns the faults. It doesn't run the command. */
export const createParser = async () => {
  const root: Command.Command.Any = Command.make("ops").pipe(
    Command.withSubcommands((await loadGroups("")).map(withoutHandler)),
    Command.withSharedFlags(sharedFlags),
  )
  const run = Command.runWith(root as Command.Command<string, unknown>, { version: "" })
  return (words: ReadonlyArray<string>): Promise<ReadonlyArray<CliError.NonShowHelpErrors>> =>
    Effect.runPromise(
      Effect.exit(run(words)).pipe(
        Effect.map((exit) => (Exit.isSuccess(exit) ? [] : faultsOf(Cause.squash(exit.cause)))),
        Effect.provideService(CliOutput.Presenter, { present: () => Effect.void }),
        Effect.provide(NodeServices.layer),
      ),
    )
}

const withoutHandler = (command: Command.Command.Any): Command.Command.Any => {
  const below = command.subcommands.flatMap(({ commands }) => commands)
  return below.length > 0
    ? Command.make(command.name).pipe(Command.withSubcommands(below.map(withoutHandler)))
    : Command.withHandler(command as Command.Command<string, unknown>, () => Effect.void)
}

const faultsOf = (error: unknown): ReadonlyArray<CliError.NonShowHelpErrors> => {
  if (!CliError.isCliError(error)) throw error
  if (error._tag !== "ShowHelp") return [error]
  return error.errors.length > 0 ? error.errors : [new CliError.UserError({ cause: "needs a command" })]
}
