import { type Config, ConfigProvider, Effect } from "effect"
import { describe, expect, it } from "vitest"
import { cursorKey, deployment, logLevel, otlpEndpoint, publicBaseUrl, secretsKey } from "../src/settings.ts"

const KEY = Buffer.alloc(32, 7)

/** Reads a setting from an environment that holds only this setting. Returns the sentence of a failure. */
const read = <A>(setting: Config.Config<A>, env: Record<string, string>): A | string =>
  setting.pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
    Effect.match({ onSuccess: (value) => value, onFailure: (error) => (error.cause as Error).message }),
    Effect.runSync,
  )

describe("settings", () => {
  it.each<[string, Config.Config<unknown>, string, unknown]>([
    ["DEPLOYMENT", deployment, "production", "production"],
    ["DEPLOYMENT", deployment, "", "development"],
    ["PUBLIC_BASE_URL", publicBaseUrl, "https://api.outreach.test/", "https://api.outreach.test"],
    ["PUBLIC_BASE_URL", publicBaseUrl, "https://outreach.test/api//", "https://outreach.test/api"],
    ["PUBLIC_BASE_URL", publicBaseUrl, "", "http://127.0.0.1:8080"],
    ["LOG_LEVEL", logLevel, "warn", "Warn"],
    ["LOG_LEVEL", logLevel, "", "Info"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", otlpEndpoint, "http://collector:4318/", "http://collector:4318"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", otlpEndpoint, "", null],
  ])("reads %s", (name, setting, text, value) => {
    expect(read(setting, { [name]: text })).toBe(value)
  })

  it.each<[string, Config.Config<unknown>, string]>([
    ["DEPLOYMENT", deployment, "Production"],
    ["DEPLOYMENT", deployment, "live"],
    ["DEPLOYMENT", deployment, "toString"],
    ["SECRETS_KEY", secretsKey, Buffer.alloc(33).toString("base64")],
    ["SECRETS_KEY", secretsKey, KEY.toString("hex")],
    ["CURSOR_KEY", cursorKey, ` ${KEY.toString("base64")}`],
    ["PUBLIC_BASE_URL", publicBaseUrl, "api.outreach.test"],
    ["PUBLIC_BASE_URL", publicBaseUrl, "ftp://api.outreach.test"],
    ["LOG_LEVEL", logLevel, "constructor"],
    ["LOG_LEVEL", logLevel, "WARN"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", otlpEndpoint, "collector:4318"],
  ])("refuses %s when it is malformed, in a sentence that does not repeat it", (name, setting, text) => {
    const sentence = read(setting, { [name]: text })
    expect(sentence).toMatch(new RegExp(`^${name} is malformed\\. It must be .+\\.$`))
    if (text.trim() !== "") expect(sentence).not.toContain(text)
  })
})
