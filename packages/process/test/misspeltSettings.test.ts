import { describe, expect, it } from "vitest"
import { misspeltSettings } from "../src/misspeltSettings.ts"

const SETTINGS = new Set([
  ...["PORT", "HOST", "LOG_LEVEL", "SMTP_URL", "SMTP_URL_FILE", "SECRETS_KEY", "SECRETS_KEY_FILE", "MAIL_FROM"],
  ...["DATABASE_URL", "DATABASE_URL_FILE", "DATABASE_LISTEN_URL", "DATABASE_LISTEN_URL_FILE", "MAIL_PER_MINUTE"],
  ...["SHUTDOWN_DELAY_SECONDS", "WEBHOOK_CALL_SECONDS", "WEBHOOK_CALLS_IN_FLIGHT", "OTEL_EXPORTER_OTLP_ENDPOINT"],
])

describe("a variable of the environment", () => {
  it.each([
    ["PROT", "PORT"],
    ["MAIL_PER_MINUT", "MAIL_PER_MINUTE"],
    ["MAIL_PER_HOUR", "MAIL_PER_MINUTE"],
    ["SECRET_KEY", "SECRETS_KEY"],
    ["DATABASE_URI", "DATABASE_URL"],
    ["LOGLEVEL", "LOG_LEVEL"],
    ["SHUTDOWN_DELAY", "SHUTDOWN_DELAY_SECONDS"],
    ["SHUTDWON_DELAY_SECOND", "SHUTDOWN_DELAY_SECONDS"],
    ["database_url", "DATABASE_URL"],
  ])("named %s resembles the setting %s", (name, similar) => {
    expect(misspeltSettings([name], SETTINGS)).toEqual([{ name, similar }])
  })

  it.each([
    ...SETTINGS,
    ...["PATH", "HOME", "HOSTNAME", "HOSTTYPE", "LANG", "PWD", "SHLVL", "TERM", "USER", "LOGNAME", "SHELL", "TZ", "CI"],
    ...["PORTS", "POST", "SORT", "HOSTS", "PGHOST", "PGPORT", "NODE_ENV", "NODE_OPTIONS", "npm_config_user_agent"],
    ...["DATABASE_URL_OLD", "DATABASE_HOST", "DATABASE_USER", "DATABASE_SSL", "DATABASE_NAME"],
    ...["SMTP_HOST", "SMTP_PORT", "SMTP_USER", "SECRET", "LOG_FILE", "LOG_FORMAT", "MAIL_TO", "PORT_8080_TCP_ADDR"],
    ...["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_SERVICE_NAME", "KUBERNETES_SERVICE_HOST", "KUBERNETES_PORT", "HTTPS_PROXY"],
  ])("named %s is left alone", (name) => {
    expect(misspeltSettings([name], SETTINGS)).toEqual([])
  })
})
