import { noneOr, textSchema } from "@outreach/domain/textSchema"
import { optionalMailFrom, optionalSmtpSettings, readPreflightSettings } from "@outreach/mail/smtpSettings"
import { databaseConnections, databaseSettings } from "@outreach/postgres-connection/databaseSettings"
import { dnsServers } from "@outreach/process/dnsServers"
import { configError, setting } from "@outreach/process/setting"
import {
  adminHost,
  adminPort,
  connectionsPerAddress,
  consoleUrl,
  deployment,
  host,
  port,
  publicBaseUrl,
  secretsKey,
  unauthenticatedLimit,
  webhookAllowPrivateAddresses,
  webhookRetryDelays,
} from "@outreach/process/settings"
import { trustProxy } from "@outreach/process/trustProxy"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { Config, Context, Effect, Layer } from "effect"

const proxyHeader = setting(
  "CONSOLE_PROXY_HEADER",
  noneOr(
    textSchema("the name of a header, such as X-Forwarded-User", (text) =>
      /^[A-Za-z][A-Za-z0-9-]*$/.test(text) ? text.toLowerCase() : undefined,
    ),
  ),
  {
    default: "none",
    about:
      "header in which a proxy sends the operator's name ([how](console.md#through-a-proxy-that-signs-in)). Disables all other ways to sign in. Requires `TRUST_PROXY`",
  },
)

/** More than there are operators. */
export const MAX_CONNECTIONS = 1000

export class ConsoleConfig extends Context.Service<ConsoleConfig>()("console/ConsoleConfig", {
  make: Effect.gen(function* () {
    const header = yield* proxyHeader
    const trusted = yield* Config.String("TRUST_PROXY").pipe(Config.withDefault("none"))
    if (header !== null && (trusted === "" || trusted === "none")) {
      return yield* configError(
        "CONSOLE_PROXY_HEADER requires TRUST_PROXY. Set TRUST_PROXY to the address of the proxy that signs operators in.",
      )
    }
    return {
      database: yield* databaseSettings,
      databaseConnections: yield* databaseConnections("console"),
      host: yield* host,
      port: yield* port("console"),
      adminHost: yield* adminHost,
      adminPort: yield* adminPort("console"),
      unauthenticatedLimit: yield* unauthenticatedLimit,
      consoleUrl: yield* consoleUrl,
      /** In lower case; null if operators sign in by links. */
      proxyHeader: header,
      trustProxy: yield* trustProxy,
      connectionsPerAddress: yield* connectionsPerAddress(MAX_CONNECTIONS),
      publicBaseUrl: yield* publicBaseUrl,
      /** The mail server for test messages and the deployment's sender, as for the worker; null if not set. */
      smtp: yield* optionalSmtpSettings,
      mailFrom: yield* optionalMailFrom,
      preflight: yield* readPreflightSettings,
      deployment: yield* deployment,
      secretsKey: yield* secretsKey,
      /** Whether webhooks may use private addresses and plain http, as for the worker. */
      allowPrivateAddresses: yield* webhookAllowPrivateAddresses,
      /** The default retry schedule of endpoints, as for the worker. */
      webhookRetryDelays: yield* webhookRetryDelays,
      /** Name servers for the endpoints' host names, as for the worker; empty for the machine's own. */
      dnsServers: yield* dnsServers,
      /** The forward proxy of webhooks, as for the worker; null for none. */
      webhookProxy: yield* webhookProxy,
    }
  }),
}) {
  static readonly fromEnvironment = Layer.effect(ConsoleConfig, ConsoleConfig.make)
}
