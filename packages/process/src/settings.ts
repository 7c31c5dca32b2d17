import { type Config, type LogLevel, Redacted } from "effect"
import { setting } from "./setting.ts"

/** `DATABASE_URL`: the PostgreSQL database. */
export const databaseUrl: Config.Config<Redacted.Redacted> = setting("DATABASE_URL", {
  expected: "a postgres:// address",
  parse: (text) =>
    /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "")
      ? Redacted.make(text, { label: "DATABASE_URL" })
      : undefined,
})

const DEPLOYMENTS = ["production", "staging", "development"] as const

/** `DEPLOYMENT`: where the process runs; only `production` is live. Default `development`. */
export const deployment: Config.Config<(typeof DEPLOYMENTS)[number]> = setting("DEPLOYMENT", {
  expected: "production, staging or development",
  parse: (text) => DEPLOYMENTS.find((name) => name === text),
  default: "development",
})

/** `SECRETS_KEY`: encrypts the signing secrets at rest. */
export const secretsKey = key("SECRETS_KEY")

/** `CURSOR_KEY`: authenticates the cursors of lists. */
export const cursorKey = key("CURSOR_KEY")

/** `PUBLIC_BASE_URL`: the API's public base URL, without a trailing slash. */
export const publicBaseUrl = httpUrl("PUBLIC_BASE_URL", "http://127.0.0.1:8080")

/** `WEBHOOK_ALLOW_PRIVATE_ADDRESSES`: whether webhooks may go to private addresses and over plain http. Default `false`. */
export const webhookAllowPrivateAddresses: Config.Config<boolean> = setting("WEBHOOK_ALLOW_PRIVATE_ADDRESSES", {
  expected: "true or false",
  parse: (text) => (text === "true" || text === "false" ? text === "true" : undefined),
  default: "false",
})

const LOG_LEVELS = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

/** `LOG_LEVEL`: the lowest level that is logged. Default `info`. */
export const logLevel: Config.Config<LogLevel.LogLevel> = setting("LOG_LEVEL", {
  expected: `one of ${Object.keys(LOG_LEVELS).join(", ")}`,
  parse: (text) => (Object.hasOwn(LOG_LEVELS, text) ? LOG_LEVELS[text as keyof typeof LOG_LEVELS] : undefined),
  default: "info",
})

/** `OTEL_EXPORTER_OTLP_ENDPOINT`: the OTLP/HTTP collector for traces and metrics. Empty exports nothing. */
export const otlpEndpoint: Config.Config<string | null> = setting("OTEL_EXPORTER_OTLP_ENDPOINT", {
  expected: "an http:// or https:// address",
  parse: (text) => (text === "none" ? null : readHttpUrl(text)),
  default: "none",
})

/** Defines a setting that is an http or https address. */
export function httpUrl(name: string, fallback?: string): Config.Config<string> {
  return setting(name, {
    expected: "an http:// or https:// address",
    parse: readHttpUrl,
    ...(fallback === undefined ? {} : { default: fallback }),
  })
}

function readHttpUrl(text: string): string | undefined {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text.replace(/\/+$/, "") : undefined
}

function key(name: string): Config.Config<Redacted.Redacted<Uint8Array>> {
  return setting(name, {
    expected: "32 random bytes in base64, as `openssl rand -base64 32` makes them",
    parse: (text) => {
      const bytes = Buffer.from(text, "base64")
      return bytes.length === 32 && bytes.toString("base64") === text
        ? Redacted.make(bytes, { label: name })
        : undefined
    },
  })
}
