import { Deployment } from "@outreach/domain/Deployment"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { CampaignRepositoryPg } from "@outreach/postgres/campaigns/CampaignRepositoryPg"
import { DatabaseMonitor, databaseMonitor } from "@outreach/postgres/DatabaseMonitor"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { SigningSecretRepositoryPg } from "@outreach/postgres/deliveries/SigningSecretRepositoryPg"
import { DigestRepositoryPg } from "@outreach/postgres/digest/DigestRepositoryPg"
import { EventFeed } from "@outreach/postgres/events/EventFeed"
import { HintInterval, Hints } from "@outreach/postgres/events/Hints"
import { HitRepositoryPg } from "@outreach/postgres/hits/HitRepositoryPg"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { IdempotencyRepositoryPg } from "@outreach/postgres/idempotency/IdempotencyRepositoryPg"
import { InboxRepositoryPg } from "@outreach/postgres/inbox/InboxRepositoryPg"
import { ApiKeyRepositoryPg } from "@outreach/postgres/organizations/ApiKeyRepositoryPg"
import { RecipientRepositoryPg } from "@outreach/postgres/recipients/RecipientRepositoryPg"
import { LinkDomainRepositoryPg } from "@outreach/postgres/senders/LinkDomainRepositoryPg"
import { UnsubscriptionRepositoryPg } from "@outreach/postgres/suppressions/UnsubscriptionRepositoryPg"
import { TransactionPg } from "@outreach/postgres/TransactionPg"
import { UnavailableLog } from "@outreach/postgres/UnavailableLog"
import { databasePool, databaseRoute } from "@outreach/postgres-connection/databaseLayer"
import { adminServer } from "@outreach/process/adminServer"
import { connectionLimit } from "@outreach/process/connectionLimit"
import { exportFromStart } from "@outreach/process/metrics"
import { applicationName } from "@outreach/process/release"
import { Effect, Layer, Ref } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpMiddleware, HttpServer } from "effect/http"
import type { SqlClient } from "effect/sql"
import { ApiConfig } from "./ApiConfig.ts"
import { docsPages } from "./docs/docsPages.ts"
import { handlers } from "./handlers/handlers.ts"
import { livez, readyz, unreadiness } from "./handlers/health.ts"
import { metrics } from "./http/apiMetrics.ts"
import { TransactionalServices } from "./http/executeOnce.ts"
import { nodeServer } from "./http/nodeServer.ts"
import { serve } from "./http/serve.ts"
import { HitQueue } from "./tracking/HitQueue.ts"
import { UNKNOWN_LINK } from "./tracking/htmlPage.ts"
import { LinkDomains, linkDomainPages } from "./tracking/LinkDomains.ts"
import { trackingPages } from "./tracking/trackingPages.ts"
import { unsubscribePages } from "./tracking/unsubscribePages.ts"

const fromSettings = <A, E, R>(create: (config: ApiConfig["Service"]) => Layer.Layer<A, E, R>) =>
  Layer.unwrap(Effect.map(ApiConfig, create))

const deployment = fromSettings(({ deployment }) =>
  Layer.succeed(Deployment, { livemode: deployment === "production" }),
)

const route = fromSettings(({ database }) =>
  databaseRoute({ database, applicationName: applicationName("outreach-api") }),
)
/** A few connections, shared by many short statements: authentication, rate windows and reads. */
const reads = pool("shared", (connections) => Math.floor(connections / 3) || 1)
/** Connections for the transactions of requests with an `Idempotency-Key`. */
const transactions = pool("exclusive", (connections) => connections - (Math.floor(connections / 3) || 1))

function pool(connections: "shared" | "exclusive", share: (connections: number) => number) {
  return fromSettings(({ databaseConnections }) =>
    databasePool({ maxConnections: share(databaseConnections), connections }),
  ).pipe(Layer.provideMerge(route))
}

const cipher = fromSettings(({ secretsKey }) => Layer.succeed(SecretCipher, SecretCipher.make(secretsKey)))

const secrets = SigningSecretRepositoryPg.pipe(Layer.provideMerge(cipher))

const monitor = databaseMonitor("api").pipe(Layer.provide(cipher), Layer.provide(reads))

const handlerPorts = Layer.mergeAll(
  RecipientRepositoryPg,
  EventFeed.layer,
  CampaignRepositoryPg,
  DigestRepositoryPg,
).pipe(Layer.provideMerge(deployment))

// Statements that wait for the disk would delay look-ups on the same connection.
const inbox = InboxRepositoryPg.pipe(Layer.provide(transactions))

const transactional = Layer.effect(TransactionalServices, Effect.context()).pipe(
  // A separate instance of each adapter per pool.
  Layer.provide(Layer.mergeAll(Layer.fresh(handlerPorts), inbox, IdempotencyRepositoryPg, TransactionPg)),
  Layer.provide(transactions),
)

const trackingLinks = fromSettings(({ publicBaseUrl, secretsKey }) =>
  TrackingLinks.below(publicBaseUrl).pipe(Layer.provideMerge(NodeTrackingSeal(secretsKey))),
)

// Hits arrive in bulk and would delay look-ups on the same connection.
const tracking = HitQueue.layer.pipe(
  Layer.provide(HitRepositoryPg),
  Layer.provide(deployment),
  Layer.provide(transactions),
  Layer.merge(LinkDomains.layer.pipe(Layer.provide(LinkDomainRepositoryPg))),
  Layer.merge(trackingLinks),
)

// Each hint is a transaction that takes as long as storing an event or a hit.
const hints = Hints.layer.pipe(Layer.provide(Layer.succeed(HintInterval, "200 millis")), Layer.provide(transactions))

const ports = Layer.mergeAll(
  ApiKeyRepositoryPg,
  secrets,
  handlerPorts,
  inbox,
  transactional,
  UnsubscriptionRepositoryPg,
  tracking,
  UnavailableLog.layer,
).pipe(Layer.provide(hints), Layer.provideMerge(reads), Layer.provide(monitor))

/** Listens after everything else has started, so that each accepted request can be served. */
const listening = Layer.effect(
  HttpServer.HttpServer,
  Effect.gen(function* () {
    const { shutdownDelay, adminHost, adminPort, connectionsPerAddress, trustProxy } = yield* ApiConfig
    const stopping = yield* Ref.make(false)
    const whyUnready = Effect.provideService(unreadiness(stopping), DatabaseMonitor, yield* DatabaseMonitor)
    const connections = connectionLimit(connectionsPerAddress, trustProxy)
    const domains = yield* LinkDomains
    const links = [...(yield* trackingPages), ...(yield* unsubscribePages), ...(yield* linkDomainPages)]
    const application = yield* serve<SecureRandom.SecureRandom | SqlClient.SqlClient>(
      handlers,
      connections,
      [["GET", "/livez", livez], ["GET", "/readyz", readyz(whyUnready)], ...(yield* docsPages), ...links],
      (host, path) =>
        domains.isLinkDomain(host) && !links.some(([, served]) => path.startsWith(served.slice(0, -1)))
          ? UNKNOWN_LINK
          : undefined,
    )
    yield* exportFromStart(metrics)
    yield* Effect.forkScoped(
      adminServer({
        host: adminHost,
        port: adminPort,
        unreadiness: Effect.map(whyUnready, (fault) => fault && `${fault.advice} (${fault.code})`),
        pages: {
          "/link-domain": (query) =>
            Effect.map(domains.mayBeCertified(query.get("domain") ?? ""), (may) =>
              may ? { status: 200, text: "served\n" } : { status: 404, text: "not served\n" },
            ),
        },
      }),
    )
    const { server, drain } = yield* nodeServer(connections)
    yield* server.serve(application)
    yield* Effect.addFinalizer(() =>
      Ref.set(stopping, true).pipe(Effect.andThen(drain), Effect.andThen(Effect.sleep(shutdownDelay))),
    )
    const url = HttpServer.formatAddress(server.address)
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ url, port: Number(new URL(url).port || 80) }))
    return server
  }),
)

const POOL_BYTES = 4096

/** Random bytes of the system's generator, drawn in bulk: a draw for each request id would take a twentieth of the time of a look-up. */
const pooledRandom = Layer.sync(SecureRandom.SecureRandom, () => {
  let pool = new Uint8Array(0)
  let used = 0
  return SecureRandom.make((size) => {
    if (size > POOL_BYTES) return crypto.getRandomValues(new Uint8Array(size))
    if (used + size > pool.length) {
      pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES))
      used = 0
    }
    used += size
    return pool.slice(used - size, used)
  })
})

// The API creates its own request spans: a path of a tracked link must not appear in them.
const untraced = Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true)

/**
 * The whole API. Serves from the construction of the layer until its release. Provides the server, for its address, and the monitor
 * of the database.
 */
export const api = listening.pipe(
  Layer.provide(ports),
  Layer.provide(pooledRandom),
  Layer.provide(untraced),
  Layer.provideMerge(monitor),
)
