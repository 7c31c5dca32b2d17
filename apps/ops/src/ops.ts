import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RELEASE } from "@outreach/process/release"
import { stopOnHangUp } from "@outreach/process/stopOnHangUp"
import { Cause, Effect, Layer, References } from "effect"
import { CliConfig, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import { CommandGroup } from "./audit/audited.ts"
import { switchFlag } from "./inputs/parsedInput.ts"
import { Output } from "./output/Output.ts"
import { jsonPresenter, presenter, reportFailure } from "./output/reportFailure.ts"

// Declared for the parser and the help. `ops` reads the flag itself, because it also applies to errors of the parser.
const jsonFlag = GlobalFlag.Setting("json")({
  flag: switchFlag("json", "Print exactly one JSON value, also for failures").pipe(Flag.withoutNegation),
})

/** The groups of commands, in the order of the help. A group is loaded when the command line or the help needs it. */
const groups = {
  migrate: () => import("./commands/migrate.ts").then(({ migrate }) => migrate),
  organizations: () => import("./commands/organizations.ts").then(({ organizations }) => organizations),
  keys: () => import("./commands/keys.ts").then(({ keys }) => keys),
  endpoints: () => import("./commands/endpoints.ts").then(({ endpoints }) => endpoints),
  secrets: () => import("./commands/secrets.ts").then(({ secrets }) => secrets),
  "keys-at-rest": () => import("./commands/keysAtRest.ts").then(({ keysAtRest }) => keysAtRest),
  programs: () => import("./commands/programs.ts").then(({ programs }) => programs),
  senders: () => import("./commands/senders.ts").then(({ senders }) => senders),
  campaigns: () => import("./commands/campaigns.ts").then(({ campaigns }) => campaigns),
  recipients: () => import("./commands/recipients.ts").then(({ recipients }) => recipients),
  suppressions: () => import("./commands/suppressions.ts").then(({ suppressions }) => suppressions),
  clinicians: () => import("./commands/clinicians.ts").then(({ clinicians }) => clinicians),
  inbox: () => import("./commands/inbox.ts").then(({ inbox }) => inbox),
  deliveries: () => import("./commands/deliveries.ts").then(({ deliveries }) => deliveries),
  "dead-letters": () => import("./commands/deadLetters.ts").then(({ deadLetters }) => deadLetters),
  replays: () => import("./commands/replays.ts").then(({ replays }) => replays),
  digest: () => import("./commands/digest.ts").then(({ digest }) => digest),
  operators: () => import("./commands/operators.ts").then(({ operators }) => operators),
  audit: () => import("./commands/audit.ts").then(({ audit }) => audit),
  database: () => import("./commands/database.ts").then(({ database }) => database),
  restore: () => import("./commands/restore.ts").then(({ restore }) => restore),
}

/** The groups that say themselves what is wrong with the database, after those above in the help. */
const diagnoses = {
  doctor: () => import("./commands/doctor.ts").then(({ doctor }) => doctor),
  status: () => import("./commands/status.ts").then(({ status }) => status),
}

/** Loads the group of a name, or else all groups: for the help, completions and suggestions. */
export const loadGroups = (word: string) => {
  const all = Object.entries({ ...groups, ...diagnoses })
  const named = all.filter(([name]) => name === word)
  return Promise.all((named.length > 0 ? named : all).map(([, load]) => load()))
}

const isDiagnosis = (word: string): word is keyof typeof diagnoses => Object.hasOwn(diagnoses, word)

/** Loads a group that connects to the database by itself. */
const loadDiagnosis = (word: keyof typeof diagnoses) => Promise.all([diagnoses[word]()])

const root = <const Groups extends Array<Command.Command.Any>>(subcommands: Groups) =>
  Command.make("ops").pipe(
    Command.withDescription(
      "The operator's command line: works on the database of DATABASE_URL, or else on the sandbox that runs here",
    ),
    Command.withSubcommands(subcommands),
    Command.withGlobalFlags([jsonFlag]),
  )

const database = Layer.unwrap(
  Effect.map(
    Effect.promise(() => import("./database.ts")),
    ({ database }) => database,
  ),
)

/** Runs one command line and returns its exit code: 0, 1 if the command failed, or 2 for wrong usage. */
export const ops = (args: ReadonlyArray<string>) => {
  const json = args.includes("--json")
  const word = args.find((arg) => !arg.startsWith("-")) ?? ""
  const command = isDiagnosis(word)
    ? Effect.map(
        Effect.promise(() => loadDiagnosis(word)),
        (groups) => Command.runWith(root(groups), { version: RELEASE }),
      )
    : Effect.map(
        Effect.promise(() => loadGroups(word)),
        (groups) => Command.runWith(Command.provide(root(groups), database), { version: RELEASE }),
      )
  return Effect.flatMap(command, (run) => run(args)).pipe(
    Effect.as(0),
    Effect.catchCauseIf((cause) => !Cause.hasInterruptsOnly(cause), reportFailure),
    Effect.provideService(Output, { json }),
    Effect.provideService(CommandGroup, word),
    Effect.provideService(CliOutput.Presenter, json ? jsonPresenter : presenter),
    Effect.provideService(
      CliConfig.CliConfig,
      CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
    ),
    // Commands print their results and failures. Logs would only add noise.
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

/** Ends the command where its reader has gone, as `head` does. Where the output is lost, lets it fail. */
const onOutputLost = ({ code }: NodeJS.ErrnoException): void => {
  if (code === "EPIPE") {
    process.emit("SIGTERM", "SIGTERM")
    return
  }
  const reason = code === "ENOSPC" ? "the disk is full" : code
  process.stderr.write(`The output could not be written: ${reason}. What the command has changed stays changed.\n`)
  process.exitCode = 1
}
