import { noneOr, textSchema, wholeNumber } from "@outreach/domain/textSchema"
import { optionalMailFrom, optionalSmtpSettings, readPreflightSettings } from "@outreach/mail/smtpSettings"
import { databaseConnections, databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { dnsServers } from "@outreach/process/dnsServers"
import { configError, setting } from "@outreach/process/setting"
import {
  adminHost,
  connectionsPerAddress,
  consoleUrl,
  deployment,
  Host,
  publicBaseUrl,
  secretsKey,
  webhookAllowPrivateAddresses,
  webhookRetryDelays,
} from "@outreach/process/settings"
import { trustProxy } from "@outreach/process/trustProxy"
import { Config, Context, Effect, Layer } from "effect"

/** `CONSOLE_PROXY_HEADER`: the header in which a trusted proxy names the operator that it has signed in. Default none. */
const proxyHeader = setting(
  "CONSOLE_PROXY_HEADER",
  noneOr(
    textSchema("the name of a header, such as X-Forwarded-User", (text) =>
      /^[A-Za-z][A-Za-z0-9-]*$/.test(text) ? text.toLowerCase() : undefined,
    ),
  ),
  "none",
)

/** Declared with the module, so that `docs/settings.md` can be compared with them. */
const own = Config.all({
  /** `CONSOLE_HOST`: the address to listen on. Default `127.0.0.1`. */
  host: setting("CONSOLE_HOST", Host, "127.0.0.1"),
  /** `CONSOLE_PORT`: the port to listen on; 0 takes any that is free. Default 8090. */
  port: setting("CONSOLE_PORT", wholeNumber(0, 65_535, "a port"), "8090"),
  /** `CONSOLE_ADMIN_PORT`: the port of `/metrics`, `/readyz` and `/livez`; 0 takes any that is free. Default 9466. */
  adminPort: setting("CONSOLE_ADMIN_PORT", wholeNumber(0, 65_535, "a port"), "9466"),
  /** `SIGN_IN_LIMIT`: how often an address may present a link or a session that is not valid in a clock minute, in each process. Default 60. */
  signInLimit: setting("SIGN_IN_LIMIT", wholeNumber(1, 1_000_000), "60"),
})

/** More connections at once than operators have. */
export const MAX_CONNECTIONS = 1000

export class ConsoleConfig extends Context.Service<ConsoleConfig>()("console/ConsoleConfig", {
  make: Effect.gen(function* () {
    const header = yield* proxyHeader
    const trusted = yield* Config.String("TRUST_PROXY").pipe(Config.withDefault("none"))
    if (header !== null && (trusted === "" || trusted === "none")) {
      return yield* configError(
        "CONSOLE_PROXY_HEADER is believed from TRUST_PROXY alone, which is not set. It must name the proxy that signs operators in.",
      )
    }
    return {
      database: yield* databaseSettings,
      databaseConnections: yield* databaseConnections(6),
      ...(yield* own),
      adminHost: yield* adminHost,
      consoleUrl: yield* consoleUrl,
      /** In lower case; null where operators sign in by links. */
      proxyHeader: header,
      trustProxy: yield* trustProxy,
      connectionsPerAddress: yield* connectionsPerAddress(MAX_CONNECTIONS),
      publicBaseUrl: yield* publicBaseUrl,
      /** The mail server of test messages, and the deployment's own sender, as the worker's; null where they are not set. */
      smtp: yield* optionalSmtpSettings,
      mailFrom: yield* optionalMailFrom,
      preflight: yield* readPreflightSettings,
      deployment: yield* deployment,
      secretsKey: yield* secretsKey,
      /** Whether webhooks may go to private addresses and over plain http, as for the worker. */
      allowPrivateAddresses: yield* webhookAllowPrivateAddresses,
      /** The schedule of endpoints that have none of their own, as the worker's. */
      webhookRetryDelays: yield* webhookRetryDelays,
      /** The name servers to ask for the names of endpoints, as for the worker; none for this machine's. */
      dnsServers: yield* dnsServers,
    }
  }),
}) {
  static readonly fromEnvironment = Layer.effect(ConsoleConfig, ConsoleConfig.make)
}
