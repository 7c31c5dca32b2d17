import { parseDeliverySchedule, SPECIFIED_DELAYS } from "@outreach/domain/deliveries/deliverySchedule"
import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { type Config, Schema } from "effect"
import { keyRing } from "./keyRing.ts"
import { setting } from "./setting.ts"

/** An http or https address, without a trailing slash. */
export const HttpUrl = textSchema("an http:// or https:// address", (text) =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text.replace(/\/+$/, "") : undefined,
)

export const trueOrFalse = textSchema("true or false", (text) =>
  text === "true" || text === "false" ? text === "true" : undefined,
)

export const Host = Schema.String.check(Schema.isPattern(/^[\w.:-]+$/)).annotate({
  expected: "a host name or an IP address",
})

/** `CONNECTIONS_PER_ADDRESS`: connections that one address has at once. Default a quarter of all that a process takes. */
export const connectionsPerAddress = (maxConnections: number) =>
  setting("CONNECTIONS_PER_ADDRESS", wholeNumber(1, 1_000_000), String(Math.ceil(maxConnections / 4)))

/** `ADMIN_HOST`: the address that serves operators. Default `127.0.0.1`. */
export const adminHost = setting("ADMIN_HOST", Host, "127.0.0.1")

/** `DEPLOYMENT`: where the process runs; only `production` is live. Default `development`. */
export const deployment = setting(
  "DEPLOYMENT",
  Schema.Literals(["production", "staging", "development"]).annotate({
    expected: "production, staging or development",
  }),
  "development",
)

/** `SECRETS_KEY`: encrypts the signing secrets at rest, and seals the links and return paths of e-mails. */
export const secretsKey = keyRing("SECRETS_KEY")

/** `CURSOR_KEY`: authenticates the cursors of lists. */
export const cursorKey = keyRing("CURSOR_KEY")

/** `PUBLIC_BASE_URL`: the API's public base URL, without a trailing slash. */
export const publicBaseUrl = setting("PUBLIC_BASE_URL", HttpUrl, "http://127.0.0.1:8080")

/** `PUBLIC_BASE_URL` where it is set; else null. */
export const optionalPublicBaseUrl = setting("PUBLIC_BASE_URL", noneOr(HttpUrl), "none")

/** `CONSOLE_URL`: where operators reach the console, without a trailing slash; sign-in links lead there. */
export const consoleUrl = setting("CONSOLE_URL", HttpUrl, "http://127.0.0.1:8090")

/** `CONSOLE_URL` where it is set; else null. */
export const optionalConsoleUrl = setting("CONSOLE_URL", noneOr(HttpUrl), "none")

/** `WEBHOOK_ALLOW_PRIVATE_ADDRESSES`: whether webhooks may go to private addresses and over plain http. Default `false`. */
export const webhookAllowPrivateAddresses: Config.Config<boolean> = setting(
  "WEBHOOK_ALLOW_PRIVATE_ADDRESSES",
  trueOrFalse,
  "false",
)

/** `WEBHOOK_RETRY_DELAYS`: the waits between the attempts at a webhook. Default: the specification's. */
export const webhookRetryDelays = setting(
  "WEBHOOK_RETRY_DELAYS",
  textSchema(`a list of delays such as ${SPECIFIED_DELAYS}`, parseDeliverySchedule),
  SPECIFIED_DELAYS,
)

const LOG_LEVELS = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

/** `LOG_LEVEL`: the lowest level that is logged. Default `info`. */
export const logLevel = setting(
  "LOG_LEVEL",
  textSchema(`one of ${Object.keys(LOG_LEVELS).join(", ")}`, (text) =>
    Object.hasOwn(LOG_LEVELS, text) ? LOG_LEVELS[text as keyof typeof LOG_LEVELS] : undefined,
  ),
  "info",
)

/** `OTEL_EXPORTER_OTLP_ENDPOINT`: the OTLP/HTTP collector for traces and metrics. Empty exports nothing. */
export const otlpEndpoint = setting("OTEL_EXPORTER_OTLP_ENDPOINT", noneOr(HttpUrl), "none")
