import { Deployment } from "@outreach/domain/Deployment"
import { ReturnPaths } from "@outreach/domain/outreach/ReturnPaths"
import { TrackingLinks } from "@outreach/domain/outreach/TrackingLinks"
import { adapters } from "@outreach/postgres/adapters"
import { databaseLayer } from "@outreach/postgres/databaseLayer"
import { NodeTrackingSeal } from "@outreach/postgres/NodeTrackingSeal"
import { SecretCipher } from "@outreach/postgres/SecretCipher"
import { HttpCourier } from "@outreach/webhooks/HttpCourier"
import { NodeSigner } from "@outreach/webhooks/NodeSigner"
import { Effect, Layer, Metric } from "effect"
import { SecureRandom } from "effect/crypto"
import { admin } from "./admin.ts"
import { applyInbox } from "./applyInbox.ts"
import { deliver } from "./deliver.ts"
import { judgeHits } from "./judgeHits.ts"
import { keepHistory } from "./keepHistory.ts"
import { atStart } from "./metrics.ts"
import { persist } from "./persist.ts"
import { publish } from "./publish.ts"
import { readGauges } from "./readGauges.ts"
import { receiveBounces } from "./receiveBounces.ts"
import { replay } from "./replay.ts"
import { SmtpMailer } from "./SmtpMailer.ts"
import { sendOutreach } from "./sendOutreach.ts"
import { sweep } from "./sweep.ts"
import { unsubscribe } from "./unsubscribe.ts"
import { WorkerConfig } from "./WorkerConfig.ts"
import { workerLimits } from "./workerLimits.ts"

/** Everything that the worker does, until it is interrupted. */
export const worker = Effect.gen(function* () {
  const config = yield* WorkerConfig
  const { drainSeconds, mail } = config

  const ports = adapters.pipe(
    Layer.provideMerge(databaseLayer({ url: config.databaseUrl, applicationName: "outreach-worker" })),
    Layer.provideMerge(Layer.succeed(Deployment, { livemode: config.deployment === "production" })),
    Layer.provideMerge(Layer.succeed(SecretCipher, SecretCipher.make(config.secretsKey))),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
    Layer.merge(
      HttpCourier({
        allowPrivateAddresses: config.webhookAllowPrivateAddresses,
        callMs: config.webhooks.callSeconds * 1000,
      }),
    ),
    Layer.merge(SmtpMailer({ url: mail.smtpUrl, from: mail.from, dkim: mail.dkim })),
    Layer.merge(
      Layer.merge(TrackingLinks.below(config.publicBaseUrl), ReturnPaths.at(mail.bounceDomain)).pipe(
        Layer.provide(NodeTrackingSeal(config.secretsKey)),
      ),
    ),
    Layer.merge(NodeSigner),
  )
  const loops = [
    publish,
    applyInbox,
    deliver({ schedule: config.webhookRetryDelays, drainSeconds, ...config.webhooks }),
    replay,
    sendOutreach({ ...mail, mailDomain: mail.domain, drainSeconds }),
    ...(mail.bouncePort === null
      ? []
      : [persist("receiveBounces", receiveBounces({ host: mail.bounceHost, port: mail.bouncePort }))]),
    judgeHits,
    unsubscribe,
    sweep,
    keepHistory(config.historyDays),
    readGauges,
    admin({
      host: config.adminHost,
      port: config.adminPort,
      readyWithinSeconds: workerLimits.readyWithinSeconds,
    }),
    Effect.onInterrupt(Effect.never, () => Effect.logInfo("worker is stopping")),
  ]
  yield* Effect.forEach(atStart, Metric.value, { discard: true })
  yield* Effect.logInfo("worker started").pipe(
    Effect.andThen(Effect.all(loops, { concurrency: "unbounded", discard: true })),
    Effect.onInterrupt(() => Effect.logInfo("worker stopped")),
    Effect.provide(ports),
  )
})
