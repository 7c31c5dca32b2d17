import type { LinkTarget } from "@outreach/backoffice/senders/SenderSetup"
import { DescribedError } from "@outreach/domain/DescribedError"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { type DatabaseSettings, databaseSettings, databaseUrl } from "@outreach/postgres-connection/databaseSettings"
import { isSet, whereSet } from "@outreach/process/setting"
import {
  consoleUrl,
  deployment,
  publicBaseUrl,
  secretsKey,
  webhookAllowPrivateAddresses,
} from "@outreach/process/settings"
import { type Config, ConfigProvider, Context, Effect, FileSystem, Layer, Path, Schema } from "effect"

/** The deployment of the command line: the database of `DATABASE_URL`, otherwise the running sandbox. */
export class Target extends Context.Service<
  Target,
  {
    /** The target's name in messages. */
    readonly name: string
    readonly database: DatabaseSettings
    /** The public URL of the sandbox's API; null for a deployment, which has a setting for it. */
    readonly sandboxUrl: string | null
    /** The console's URL. Only commands that need it read it. */
    readonly consoleUrl: Effect.Effect<string, Config.ConfigError>
    readonly livemode: boolean
    /** Whether endpoints may use plain http. */
    readonly allowHttp: boolean
    /** The keys that encrypt secrets. Only commands that need them read them. */
    readonly secretsKey: Effect.Effect<KeyRing, Config.ConfigError | SandboxUnreadable>
  }
>()("ops/Target") {
  /** Reads the target from the environment, otherwise from `.sandbox/sandbox.json` in this or the nearest parent folder. */
  static readonly layer = Layer.effect(
    Target,
    Effect.suspend(() => Effect.flatMap(isSet(databaseUrl), (set) => (set ? readEnvironment : readSandbox))),
  )
}

/** Reads the target host of links without a link domain. */
export const linkTarget = Effect.gen(function* (): Effect.fn.Return<LinkTarget, Config.ConfigError, Target> {
  const { sandboxUrl, allowHttp: allowPrivateAddresses, secretsKey } = yield* Target
  return { publicBaseUrl: sandboxUrl ?? (yield* whereSet(publicBaseUrl)), allowPrivateAddresses, secretsKey }
})

const readEnvironment = Effect.gen(function* () {
  return Target.of({
    name: "the database of DATABASE_URL",
    sandboxUrl: null,
    consoleUrl,
    database: yield* databaseSettings,
    livemode: (yield* deployment) === "production",
    allowHttp: yield* webhookAllowPrivateAddresses,
    secretsKey,
  })
})

const readSandbox = Effect.gen(function* () {
  const folder = yield* findSandbox
  const { join } = yield* Path.Path
  const settings = yield* readSettings(join(folder, "sandbox.json"))
  const DATABASE_URL = settings["database_url"]
  const consoleOrigin = URL.parse(String(settings["console_url"]))?.origin
  return Target.of({
    name: "the sandbox's database",
    sandboxUrl: String(settings["base_url"]),
    consoleUrl: consoleOrigin === undefined ? consoleUrl : Effect.succeed(consoleOrigin),
    database: yield* databaseSettings.parse(ConfigProvider.fromUnknown({ DATABASE_URL })),
    livemode: false,
    allowHttp: true,
    secretsKey: readSettings(join(folder, "keys.json")).pipe(
      Effect.flatMap((keys) => secretsKey.parse(ConfigProvider.fromUnknown(keys))),
      Effect.provideService(FileSystem.FileSystem, yield* FileSystem.FileSystem),
    ),
  })
})

class NoTarget extends DescribedError(
  "NoTarget",
  "There is no database to work on: set DATABASE_URL, or start the sandbox in this folder.",
) {}

const findSandbox = Effect.gen(function* () {
  const { exists } = yield* FileSystem.FileSystem
  const { dirname, join, resolve } = yield* Path.Path
  for (let folder = resolve("."); ; folder = dirname(folder)) {
    const found = yield* Effect.orElseSucceed(exists(join(folder, ".sandbox", "sandbox.json")), () => false)
    if (found) return join(folder, ".sandbox")
    if (folder === dirname(folder)) {
      return yield* new NoTarget()
    }
  }
})

class SandboxUnreadable extends DescribedError(
  "SandboxUnreadable",
  "The sandbox's file {file} cannot be used; start the sandbox again.",
) {}

const readSettings = (file: string) =>
  FileSystem.FileSystem.use(({ readFileString }) => readFileString(file)).pipe(
    Effect.flatMap(decodeSettings),
    Effect.mapError(() => new SandboxUnreadable({ file })),
  )

const decodeSettings = Schema.decodeEffect(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
