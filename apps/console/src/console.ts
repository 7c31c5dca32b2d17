import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodeHttpPlatform from "@effect/platform-node/NodeHttpPlatform"
import { ConsoleAddress } from "@outreach/backoffice/operators/ConsoleAddress"
import { Deployment, PreflightSettings } from "@outreach/domain/Deployment"
import { PrivateAddressesAllowed, TEST_TIMEOUT_MS } from "@outreach/domain/deliveries/Endpoints"
import { TestMailSettings } from "@outreach/mail/smtpSettings"
import { adapters } from "@outreach/postgres/adapters"
import { DatabaseMonitor, databaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { adminServer } from "@outreach/process/adminServer"
import { connectionLimit } from "@outreach/process/connectionLimit"
import { applicationName } from "@outreach/process/release"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { type Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpMiddleware, HttpServer } from "effect/http"
import { ConsoleConfig } from "./ConsoleConfig.ts"
import { application, consoleServer } from "./http/consoleServer.ts"
import { OpenCounts } from "./http/OpenCounts.ts"
import { PendingLists } from "./pages/imports/PendingLists.ts"
import { SenderLookUps } from "./pages/senders/SenderLookUps.ts"
import { routes } from "./routes.ts"
import { Sessions } from "./signIn/Sessions.ts"

/** Separate connections, few and short, so that pages don't slow down deliveries. */
const database = Layer.unwrap(
  Effect.map(ConsoleConfig, ({ database, databaseConnections }) =>
    databaseLayer({
      database,
      applicationName: applicationName("outreach-console"),
      maxConnections: databaseConnections,
      statementTimeoutSeconds: 5,
    }),
  ),
)

const fromSettings = <I, S>(service: Context.Key<I, S>, make: (config: ConsoleConfig["Service"]) => S) =>
  Layer.effect(service, Effect.map(ConsoleConfig, make))

const cipher = fromSettings(SecretCipher, ({ secretsKey }) => SecretCipher.make(secretsKey))

const settings = Layer.mergeAll(
  cipher,
  fromSettings(Deployment, ({ deployment }) => ({ livemode: deployment === "production" })),
  fromSettings(PreflightSettings, ({ preflight }) => preflight),
  fromSettings(TestMailSettings, ({ smtp, publicBaseUrl }) => Effect.succeed(smtp && { ...smtp, publicBaseUrl })),
  fromSettings(PrivateAddressesAllowed, (config) => config.allowPrivateAddresses),
  fromSettings(ConsoleAddress, ({ consoleUrl, proxyHeader }) => ({
    linkUrl: proxyHeader === null ? consoleUrl : null,
  })),
)

const monitor = databaseMonitor("operator").pipe(Layer.provide(cipher), Layer.provide(database))

const webhookClient = Layer.unwrap(
  Effect.map(ConsoleConfig, ({ allowPrivateAddresses, dnsServers, webhookProxy: proxy }) =>
    HttpWebhookClient({ allowPrivateAddresses, callMs: TEST_TIMEOUT_MS, names: partnerNames(dnsServers), proxy }),
  ),
)

const services = Layer.mergeAll(
  NodeHttpPlatform.layer,
  webhookClient,
  NodeSigner,
  Sessions.layer,
  OpenCounts.layer,
  SenderLookUps.layer,
  UnavailableLog.layer,
  PendingLists.layer,
).pipe(
  Layer.provideMerge(NodeFileSystem.layer),
  Layer.provideMerge(adapters),
  Layer.provideMerge(Layer.mergeAll(database, settings, SecureRandom.layerWebCrypto)),
)

const listening = Layer.effect(
  HttpServer.HttpServer,
  Effect.gen(function* () {
    const { adminHost, adminPort, connectionsPerAddress, trustProxy } = yield* ConsoleConfig
    const { unusable } = yield* DatabaseMonitor
    yield* Effect.forkScoped(
      adminServer({
        host: adminHost,
        port: adminPort,
        unreadiness: Effect.map(unusable, (found) => found && `${found.advice} (${found.code})`),
      }),
    )
    const connections = connectionLimit(connectionsPerAddress, trustProxy)
    const server = yield* consoleServer(connections)
    yield* server.serve(yield* application(routes, connections))
    const url = HttpServer.formatAddress(server.address)
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ url, port: Number(new URL(url).port || 80) }))
    return server
  }),
)

/** The console creates the spans of requests itself: a URL can contain a search term or a sign-in token. */
const untraced = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)

/** The whole console, which serves while the layer exists. Provides the server for its address. */
export const console = listening.pipe(Layer.provide(untraced), Layer.provide(services), Layer.provideMerge(monitor))
