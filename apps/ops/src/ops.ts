import { Cause, Effect, References } from "effect"
import { CliConfig, CliOutput, Command, Flag, GlobalFlag } from "effect/cli"
import manifest from "../package.json" with { type: "json" }
import { campaigns } from "./commands/campaigns.ts"
import { deadLetters } from "./commands/deadLetters.ts"
import { deliveries } from "./commands/deliveries.ts"
import { digest } from "./commands/digest.ts"
import { endpoints } from "./commands/endpoints.ts"
import { inbox } from "./commands/inbox.ts"
import { keys } from "./commands/keys.ts"
import { migrate } from "./commands/migrate.ts"
import { organizations } from "./commands/organizations.ts"
import { programs } from "./commands/programs.ts"
import { recipients } from "./commands/recipients.ts"
import { replays } from "./commands/replays.ts"
import { secrets } from "./commands/secrets.ts"
import { suppressions } from "./commands/suppressions.ts"
import { Output } from "./output/Output.ts"
import { jsonPresenter, presenter } from "./output/presenter.ts"
import { reportFailure } from "./output/reportFailure.ts"
import { ports } from "./ports.ts"

// Declared for the parser and the help; read by `ops` itself, because it also decides how a wrong command line is reported.
const jsonFlag = GlobalFlag.Setting("json")({
  flag: Flag.Boolean("json").pipe(
    Flag.withoutNegation,
    Flag.withDescription("Print exactly one JSON value, also for failures"),
    Flag.withDefault(false),
  ),
})

const root = Command.make("ops").pipe(
  Command.withDescription(
    "The operator's command line: works on the database of DATABASE_URL, or else on the sandbox that runs here",
  ),
  Command.withSubcommands([
    migrate,
    organizations,
    keys,
    endpoints,
    secrets,
    programs,
    campaigns,
    recipients,
    suppressions,
    inbox,
    deliveries,
    deadLetters,
    replays,
    digest,
  ]),
  Command.withGlobalFlags([jsonFlag]),
  Command.provide(ports),
)

/** Runs one command line and answers its exit code: 0, or 1 when the command failed, or 2 for wrong usage. */
export const ops = (args: ReadonlyArray<string>) => {
  const json = args.includes("--json")
  return Command.runWith(
    root,
    manifest,
  )(args).pipe(
    Effect.as(0),
    Effect.catchCauseIf((cause) => !Cause.hasInterruptsOnly(cause), reportFailure),
    Effect.provideService(Output, { json }),
    Effect.provideService(CliOutput.Presenter, json ? jsonPresenter : presenter),
    Effect.provideService(
      CliConfig.CliConfig,
      CliConfig.make({ builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions] }),
    ),
    // Everything worth saying is an answer or a failure.
    Effect.provideService(References.MinimumLogLevel, "None"),
  )
}
