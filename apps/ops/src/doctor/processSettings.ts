import { ApiConfig } from "@outreach/api/ApiConfig"
import { ConsoleConfig } from "@outreach/console/ConsoleConfig"
import { optionalMailFrom, optionalSmtpSettings } from "@outreach/mail/smtpSettings"
import { databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { dnsServers } from "@outreach/process/dnsServers"
import { collectSettings } from "@outreach/process/setting"
import {
  consoleUrl,
  deployment,
  publicBaseUrl,
  secretsKey,
  telemetrySettings,
  webhookAllowPrivateAddresses,
  webhookRetryDelays,
} from "@outreach/process/settings"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { WorkerConfig } from "@outreach/worker/WorkerConfig"
import { Config, ConfigProvider, Effect, Layer, Record, Result } from "effect"
import { operator } from "../audit/audited.ts"

/** A reader of settings: its name in sentences, and its settings. */
export interface SettingsReader {
  readonly title: string
  readonly settings: Effect.Effect<unknown, Config.ConfigError>
}

const served = <E, R>(config: Layer.Layer<never, E, R>) =>
  Effect.andThen(Effect.scoped(Layer.build(config)), telemetrySettings)

export const SETTINGS_READERS = {
  api: { title: "API", settings: served(ApiConfig.fromEnvironment) },
  worker: { title: "worker", settings: Config.all([WorkerConfig, telemetrySettings]) },
  console: { title: "console", settings: served(ConsoleConfig.fromEnvironment) },
  ops: {
    title: "command line",
    settings: Config.all({
      ...{ databaseSettings, secretsKey, deployment, publicBaseUrl, consoleUrl, operator, dnsServers },
      ...{ optionalSmtpSettings, optionalMailFrom, webhookAllowPrivateAddresses, webhookRetryDelays },
      webhookProxy,
    }),
  },
  migrate: { title: "migration", settings: databaseSettings },
} as const satisfies Readonly<Record<string, SettingsReader>>

/** Valid example values, to continue after a missing or malformed setting. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  DATABASE_URL: "postgres://localhost/",
  SECRETS_KEY: Buffer.alloc(32).toString("base64"),
  CURSOR_KEY: Buffer.alloc(32).toString("base64"),
  SMTP_URL: "smtp://localhost",
  MAIL_FROM: "postmaster@localhost",
}

/** Reads the settings of a process as the process does, and continues after each invalid one. Returns the names of the settings and the problems. */
export const readOn = Effect.fnUntraced(function* ({ settings }: SettingsReader) {
  const environment = yield* ConfigProvider.ConfigProvider
  const names = new Set<string>()
  const replaced = new Map<string, string>()
  const provider = ConfigProvider.make((path) => {
    const name = path.join("_")
    names.add(name)
    const text = replaced.get(name)
    return text === undefined ? environment.load(path) : Effect.succeed(ConfigProvider.makeValue(text))
  })
  const read = Effect.provideService(Effect.result(settings), ConfigProvider.ConfigProvider, provider)
  const sentences: Array<string> = []
  while (true) {
    const [result, declarations] = yield* collectSettings(read)
    if (Result.isSuccess(result)) return { names, declarations, sentences }
    const { message } = result.failure.cause as Error
    sentences.push(message)
    // In each sentence, the setting is the first word in capitals.
    const name = /[A-Z][A-Z0-9_]{2,}/.exec(message)?.[0].replace(/_FILE$/, "")
    if (name === undefined || replaced.has(name)) return { names, declarations, sentences }
    replaced.set(name, SUBSTITUTES[name] ?? "").set(`${name}_FILE`, "")
  }
})

/** Returns the names of the variables that each process may read, and the settings of all processes by name. */
export const readAllSettings = () => {
  const env = ConfigProvider.fromEnv({ env: SUBSTITUTES })
  const read = Effect.all(Record.map(SETTINGS_READERS as Readonly<Record<string, SettingsReader>>, readOn))
  const readers = Effect.runSync(Effect.provideService(read, ConfigProvider.ConfigProvider, env))
  return { readers, declared: new Map(Object.values(readers).flatMap(({ declarations }) => [...declarations])) }
}
