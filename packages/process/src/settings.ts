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
  about: "address to listen on. The console shows personal data: open it only to your network",
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
    "address of the admin port (`/metrics`, `/readyz`, `/livez` and, for the API, `/link-domain` for [your proxy](deployment.md#domains-for-links)). It has no authentication: open it only to your network",
})

export const adminPort = settingByProcess("ADMIN_PORT", Port, {
  default: { api: "9465", worker: "9464", console: "9466" },
  about: "port of the admin server on `ADMIN_HOST`; 0 for any free one",
})

export const unauthenticatedLimit = setting("UNAUTHENTICATED_LIMIT", wholeNumber(1, 1_000_000), {
  default: "60",
  about:
    "authentication failures per client address (IPv6: /64), minute and process. Above it, the process returns 429 (webhooks: 503) until the minute is over, except for known keys, endpoints and sessions",
})

const perAddress = setting("CONNECTIONS_PER_ADDRESS", wholeNumber(1, 1_000_000), {
  otherwise: "a quarter of all",
  about:
    "open connections per client address (IPv6: /64) and process; more are closed. The console accepts 1,000 in total. Behind a `TRUST_PROXY`, this limits concurrent requests per forwarded address (503 for more). Raise it if a load balancer doesn't forward addresses",
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
    about: "environment; only `production` is `livemode`",
  },
)

export const secretsKey = keyRing(
  "SECRETS_KEY",
  "[key](#keys) that encrypts signing secrets, headers of endpoints and DKIM keys, and signs links and return paths in e-mails. Links of sent e-mails stop working without their key",
)

export const cursorKey = keyRing("CURSOR_KEY", "[key](#keys) that signs list cursors")

export const publicBaseUrl = setting("PUBLIC_BASE_URL", HttpUrl, {
  default: "http://127.0.0.1:8080",
  isAdvised: true,
  about: "public address of the API, used in links of e-mails",
})

export const consoleUrl = setting("CONSOLE_URL", HttpUrl, {
  default: "http://127.0.0.1:8090",
  isAdvised: true,
  about:
    "address of the console for operators, used in sign-in links. The console accepts only this host name and `localhost`. With `https://`, the session cookie requires TLS",
})

export const webhookAllowPrivateAddresses = setting("WEBHOOK_ALLOW_PRIVATE_ADDRESSES", trueOrFalse, {
  default: "false",
  about: "allows webhooks to private addresses and http URLs",
})

export const webhookRetryDelays = setting(
  "WEBHOOK_RETRY_DELAYS",
  textSchema(`a list of delays such as ${SPECIFIED_DELAYS}`, parseDeliverySchedule),
  {
    default: SPECIFIED_DELAYS,
    about:
      "delays between delivery attempts: at most 19, each at most `7d`. The default is the specification's. An endpoint can have [a different schedule](../apps/ops/README.md#partners). ops and the console use it to show the number of attempts",
  },
)

const LOG_LEVELS = { debug: "Debug", info: "Info", warn: "Warn", error: "Error", none: "None" } as const

export const logLevel = setting(
  "LOG_LEVEL",
  textSchema(`one of ${Object.keys(LOG_LEVELS).join(", ")}`, (text) =>
    Object.hasOwn(LOG_LEVELS, text) ? LOG_LEVELS[text as keyof typeof LOG_LEVELS] : undefined,
  ),
  { default: "info", about: "lowest level that is logged, as JSON lines on standard output" },
)

export const otlpEndpoint = setting("OTEL_EXPORTER_OTLP_ENDPOINT", noneOr(HttpUrl), {
  default: "none",
  about: "collector for traces, metrics and logs (OTLP/HTTP)",
})

const tracesSampled = setting(
  "OTEL_TRACES_SAMPLER_ARG",
  textSchema("a share from 0 to 1, such as 0.05", (text) =>
    /^(?:0|1(?:\.0{1,9})?|0?\.\d{1,9})$/.test(text) ? Number(text) : undefined,
  ),
  {
    default: "0.05",
    about:
      "share of exported [traces](operations.md#traces); use the same value in all processes. Failed spans and those of at least one second are always exported",
  },
)

/** Settings of `telemetry`. */
export const telemetrySettings = Config.all({ logLevel, otlpEndpoint, tracesSampled })
