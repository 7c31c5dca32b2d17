import { parseDeliverySchedule, SPECIFIED_DELAYS } from "@outreach/domain/deliveries/deliverySchedule"
import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { Config, Schema } from "effect"
import { keyRing } from "./keyRing.ts"
import { setting, settingByProcess } from "./setting.ts"

/** An http or https URL without a trailing slash. */
export const HttpUrl = textSchema("an http:// or https:// address", (text) =>
  /^https?:$/.test(URL.parse(text)?.protocol ?? "") ? text.replace(/\/+$/, "") : undefined,
)

export const trueOrFalse = textSchema("true or false", (text) =>
  text === "true" || text === "false" ? text === "true" : undefined,
)

export const Host = Schema.String.check(Schema.isPattern(/^[\w.:-]+$/)).annotate({
  expected: "a host name or an IP address",
})

export const host = setting("HOST", Host, {
  default: "127.0.0.1",
  isAdvised: true,
  about:
    "address to listen on. The pages of the console show personal data to those who are signed in: open it to your own network alone",
})

const Port = wholeNumber(0, 65_535, "a port")

export const port = settingByProcess("PORT", Port, {
  default: { api: "8080", console: "8090" },
  about: "port to listen on; 0 for any free one",
})

export const adminHost = setting("ADMIN_HOST", Host, {
  default: "127.0.0.1",
  isAdvised: true,
  about:
    "address of the admin port, which serves `/metrics`, `/readyz` and `/livez` without authentication, and the API's also `/link-domain` for [your proxy](deployment.md#domains-for-links): open it to your own network alone",
})

export const adminPort = settingByProcess("ADMIN_PORT", Port, {
  default: { api: "9465", worker: "9464", console: "9466" },
  about: "port of `/metrics`, `/readyz` and `/livez`, on `ADMIN_HOST`; 0 for any free one",
})

export const unauthenticatedLimit = setting("UNAUTHENTICATED_LIMIT", wholeNumber(1, 1_000_000), {
  default: "60",
  about:
    "authentication failures that one client address (an IPv6 /64) may have in a clock minute, in each process: requests without a valid key, webhooks to unknown endpoints, or links and sessions of the console that are not valid. Then the process returns 429 until the minute ends (503 for webhooks), except to keys, endpoints and sessions that it already knows",
})

const perAddress = setting("CONNECTIONS_PER_ADDRESS", wholeNumber(1, 1_000_000), {
  otherwise: "a quarter of all",
  about:
    "open connections of one client address (an IPv6 /64), in each process; a further one is closed at once. The console takes 1,000 in all. The connections of a `TRUST_PROXY` are not counted. Instead each forwarded address has this number of requests at once, and gets 503 for a further one. Raise it where a load balancer in front forwards no addresses",
})

export const connectionsPerAddress = (maxConnections: number): Config.Config<number> =>
  Config.map(perAddress, (given) => given ?? Math.ceil(maxConnections / 4))

export const deployment = setting(
  "DEPLOYMENT",
  Schema.Literals(["production", "staging", "development"]).annotate({
    expected: "production, staging or development",
  }),
  {
    default: "development",
    isAdvised: true,
    about: "where the process runs; only production is `livemode`",
  },
)

export const secretsKey = keyRing(
  "SECRETS_KEY",
  "[key](#keys) that encrypts signing secrets and DKIM keys of senders at rest, and seals the links and return paths of e-mails. Without the key that sealed them, the links of messages already sent lead nowhere",
)

export const cursorKey = keyRing("CURSOR_KEY", "[key](#keys) that authenticates the cursors of lists")

export const publicBaseUrl = setting("PUBLIC_BASE_URL", HttpUrl, {
  default: "http://127.0.0.1:8080",
  isAdvised: true,
  about: "public address of the API; the links of e-mails lead there",
})

export const consoleUrl = setting("CONSOLE_URL", HttpUrl, {
  default: "http://127.0.0.1:8090",
  isAdvised: true,
  about:
    "where operators reach the console; sign-in links lead there, and the console answers to no other host name except `localhost`. Where it begins with `https://`, browsers send the session's cookie over TLS alone",
})

export const webhookAllowPrivateAddresses = setting("WEBHOOK_ALLOW_PRIVATE_ADDRESSES", trueOrFalse, {
  default: "false",
  about: "whether webhooks may go to private addresses and over http",
})

export const webhookRetryDelays = setting(
  "WEBHOOK_RETRY_DELAYS",
  textSchema(`a list of delays such as ${SPECIFIED_DELAYS}`, parseDeliverySchedule),
  {
    default: SPECIFIED_DELAYS,
    about:
      "waits between the attempts of a delivery, at most 19 and each at most `7d`; the default is the specification's. An endpoint may have [its own](../apps/ops/README.md#partners). ops and the console show by it how many attempts a delivery has",
  },
)

const LOG_LEVELS = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

export const logLevel = setting(
  "LOG_LEVEL",
  textSchema(`one of ${Object.keys(LOG_LEVELS).join(", ")}`, (text) =>
    Object.hasOwn(LOG_LEVELS, text) ? LOG_LEVELS[text as keyof typeof LOG_LEVELS] : undefined,
  ),
  { default: "info", about: "lowest level that is logged; logs are JSON lines on standard output" },
)

export const otlpEndpoint = setting("OTEL_EXPORTER_OTLP_ENDPOINT", noneOr(HttpUrl), {
  default: "none",
  about: "the collector that receives traces, metrics and logs over OTLP/HTTP",
})

export const tracesSampled = setting(
  "OTEL_TRACES_SAMPLER_ARG",
  textSchema("a share from 0 to 1, such as 0.05", (text) =>
    /^(?:0|1(?:\.0{1,9})?|0?\.\d{1,9})$/.test(text) ? Number(text) : undefined,
  ),
  {
    default: "0.05",
    about:
      "share of [traces](operations.md#traces) that is exported; the same for all processes. What failed, or took at least one second, is exported always",
  },
)

/** Settings of `telemetry`. */
export const telemetrySettings = Config.all({ logLevel, otlpEndpoint, tracesSampled })
