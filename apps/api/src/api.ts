import { Deployment } from "@outreach/domain/Deployment"
import { CampaignBookPg } from "@outreach/postgres/CampaignBookPg"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { KeyRingPg } from "@outreach/postgres/KeyRingPg"
import { RecipientRegisterPg } from "@outreach/postgres/RecipientRegisterPg"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpServer, UrlParams } from "effect/http"
import { ApiConfig } from "./ApiConfig.ts"
import { handlers } from "./handlers/handlers.ts"
import { readyz } from "./handlers/readyz.ts"
import { nodeServer } from "./http/nodeServer.ts"
import { serve } from "./http/serve.ts"

const deployment = Layer.effect(
  Deployment,
  Effect.map(ApiConfig, ({ deployment }) => ({ livemode: deployment === "production" })),
)

/** Few connections that many short statements share: recognising, counting and reading is all that the API does so far. */
const reads = Layer.unwrap(
  Effect.map(ApiConfig, ({ databaseUrl }) =>
    databaseLayer({ url: databaseUrl, applicationName: "outreach-api", maxConnections: 4, connections: "shared" }),
  ),
)

const ports = Layer.mergeAll(KeyRingPg, RecipientRegisterPg, CampaignBookPg).pipe(
  Layer.provideMerge(reads),
  Layer.provideMerge(deployment),
)

const listening = Layer.effectDiscard(
  Effect.gen(function* () {
    const server = yield* HttpServer.HttpServer
    const { application } = yield* serve(handlers, { "/readyz": readyz })
    yield* server.serve(application)
    const url = HttpServer.formatAddress(server.address)
    yield* Effect.logInfo("listening").pipe(Effect.annotateLogs({ url, port: Number(new URL(url).port || 80) }))
  }),
)

// Spans name the path and no value of the query.
const redaction = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

/** The whole API, serving from when the layer is built until it is released; offers the server, for its address. */
export const api = listening.pipe(
  Layer.provideMerge(nodeServer),
  Layer.provide(ports),
  Layer.provide(SecureRandom.layerWebCrypto),
  Layer.provide(redaction),
)
