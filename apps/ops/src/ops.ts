import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RELEASE } from "@outreach/process/release"
import { stopOnHangUp } from "@outreach/process/stopOnHangUp"
import { Cause, Effect, References, Struct } from "effect"
import { CliConfig, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import type { AnyCommand } from "./command.ts"
import { COMMAND_NAME } from "./output/formatHelp.ts"
import { CommandLine, OUTPUT_FORMS, Output } from "./output/Output.ts"
import { presenter, reportFailure } from "./output/reportFailure.ts"
import { outlineSubject, subjectCommand, subjects } from "./subjectCommand.ts"

/** The flags of every command. `ops` reads `--output` itself, because it also applies to errors of the parser. */
export const sharedFlags = {
  output: Flag.Literals("output", OUTPUT_FORMS).pipe(
    Flag.withDescription("How to print: table (default), json for exactly one JSON value, also for failures, or csv"),
    Flag.withDefault("table"),
  ),
}

const readOutput = (args: ReadonlyArray<string>) => {
  const [, given] = /(?:^|\0)--output[=\0]([^\0]*)/.exec(args.join("\0")) ?? []
  return OUTPUT_FORMS.find((form) => form === given) ?? "table"
}

/** Loads the command or group of a name; without one all of them. */
export const loadGroups = (word: string): Promise<ReadonlyArray<AnyCommand>> =>
  Promise.all(
    (Object.hasOwn(subjects, word) ? [word as keyof typeof subjects] : Struct.keys(subjects)).map(subjectCommand),
  )

const load = Effect.fnUntraced(function* (args: ReadonlyArray<string>, word: string) {
  // The help and suggestions of `ops` itself contain only names and descriptions. Loading all commands would double their CPU time.
  const isOutlined = !Object.hasOwn(subjects, word) && !args.some((arg) => arg.startsWith("--completions"))
  const groups = isOutlined ? Promise.all(Struct.keys(subjects).map(outlineSubject)) : loadGroups(word)
  return Command.make(COMMAND_NAME).pipe(
    Command.withDescription(
      "The operator's command line: works on the database of DATABASE_URL, or else on the sandbox that runs here",
    ),
    Command.withSubcommands(yield* Effect.promise(() => groups)),
    Command.withSharedFlags(sharedFlags),
  )
})

/** Rewrites command lines that the parser misreads: `ops help …`, and a value such as -1s, which it would read as flags. */
const rewrite = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isValue = (i: number) => /^-\d/.test(args[i] ?? "") && /^--[a-z-]+$/.test(args[i - 1] ?? "")
  const words = args.flatMap((word, i) => (isValue(i) ? [] : isValue(i + 1) ? [`${word}=${args[i + 1]}`] : [word]))
  return words[0] === "help" ? [...words.slice(1), "--help"] : words
}

/** Runs one command line and returns its exit code: 0, 1 if the command failed, or 2 for wrong usage. */
export const ops = (typed: ReadonlyArray<string>) => {
  const args = rewrite(typed)
  const output = readOutput(args)
  const word = args.find((arg, i) => !arg.startsWith("-") && args[i - 1] !== "--output") ?? ""
  return Effect.flatMap(load(args, word), (command) => Command.runWith(command, { version: RELEASE })(args)).pipe(
    Effect.as(0),
    Effect.catchCauseIf((cause) => !Cause.hasInterruptsOnly(cause), reportFailure),
    Effect.provideService(CliOutput.Presenter, presenter),
    Effect.provideService(Output, output),
    Effect.provideService(CommandLine, args),
    Effect.provideService(
      CliConfig.CliConfig,
      CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
    ),
    // Commands print their results and failures without logs.
    Effect.provideService(References.MinimumLogLevel, "None"),
  )
}

/** Runs the command line of this process, and sets its exit code. */
export const runOps = (): void => {
  stopOnHangUp()
  process.stdout.on("error", onOutputLost)
  ops(process.argv.slice(2)).pipe(
    Effect.tap((code) =>
      Effect.sync(() => {
        process.exitCode ||= code
      }),
    ),
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain,
  )
}

/** Ends the command if its reader was closed, as by `head`. If the output is lost otherwise, it fails. */
const onOutputLost = ({ code }: NodeJS.ErrnoException): void => {
  if (code === "EPIPE") {
    process.emit("SIGTERM", "SIGTERM")
    return
  }
  const reason = code === "ENOSPC" ? "the disk is full" : code
  process.stderr.write(`The output could not be written: ${reason}. What the command has changed stays changed.\n`)
  process.exitCode = 1
}
