import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { pauseOnComplaints } from "@outreach/domain/campaigns/Campaigns"
import { publishChunk } from "@outreach/domain/campaigns/publishRecipients"
import { Deployment } from "@outreach/domain/Deployment"
import { HitRepository, judgeHits } from "@outreach/domain/hits/Hits"
import { TrackingLinks } from "@outreach/domain/hits/TrackingLinks"
import { applyBatch } from "@outreach/domain/inbox/applyBatch"
import { InboxRepository } from "@outreach/domain/inbox/InboxRepository"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { applyUnsubscriptions } from "@outreach/domain/suppressions/Unsubscriptions"
import { withdrawSuppressed } from "@outreach/domain/suppressions/Withdrawals"
import { SmtpTransport } from "@outreach/mail/SmtpTransport"
import { adapters } from "@outreach/postgres/adapters"
import { DatabaseMonitor, databaseMonitor, monitorMetrics } from "@outreach/postgres/DatabaseMonitor"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { hintMetrics } from "@outreach/postgres/events/Hints"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { exportFromStart } from "@outreach/process/metrics"
import { applicationName } from "@outreach/process/release"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { admin, readGauges } from "./admin/admin.ts"
import { deliver } from "./deliveries/deliver.ts"
import { replay } from "./deliveries/replay.ts"
import { processInTurns, repeatWhenDue, retryForever, untilMore } from "./loops/retryForever.ts"
import { runWhileServing } from "./loops/runWhileServing.ts"
import { receiveBounces } from "./mail/receiveBounces.ts"
import { sendOutreach } from "./mail/sendOutreach.ts"
import { metrics } from "./metrics.ts"
import { eraseEndedRecipients } from "./upkeep/eraseEndedRecipients.ts"
import { managePartitions } from "./upkeep/managePartitions.ts"
import { noticeFailingEndpoints } from "./upkeep/noticeFailingEndpoints.ts"
import {
  closeFailureGroups,
  countCampaigns,
  deleteExpired,
  endRemovedEndpoints,
  mergeOutcomes,
} from "./upkeep/upkeep.ts"
import { watchClock } from "./upkeep/watchClock.ts"
import { WorkerConfig } from "./WorkerConfig.ts"

/** All tasks of the worker, until interrupted. */
export const worker = Effect.gen(function* () {
  const config = yield* WorkerConfig
  const { drainSeconds, mail } = config
  const { recipientsMonths } = config.retention

  const ports = adapters.pipe(
    Layer.provideMerge(databaseMonitor("worker")),
    Layer.provideMerge(
      databaseLayer({
        database: config.database,
        applicationName: applicationName("outreach-worker"),
        maxConnections: config.databaseConnections,
      }),
    ),
    Layer.provideMerge(Layer.succeed(Deployment, { livemode: config.deployment === "production" })),
    Layer.provideMerge(Layer.succeed(SecretCipher, SecretCipher.make(config.secretsKey))),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
    Layer.merge(
      HttpWebhookClient({
        allowPrivateAddresses: config.webhookAllowPrivateAddresses,
        callMs: config.webhooks.callSeconds * 1000,
        names: partnerNames(config.dnsServers),
        proxy: config.webhookProxy,
      }),
    ),
    Layer.merge(SmtpTransport(mail.smtpUrl)),
    Layer.merge(
      Layer.merge(TrackingLinks.below(config.publicBaseUrl), ReturnPaths.at(mail.bounceDomain)).pipe(
        Layer.provide(NodeTrackingSeal(config.secretsKey)),
      ),
    ),
    Layer.merge(NodeSigner),
  )
  const openAndComplete = Effect.flatMap(CampaignRepository, (campaigns) => campaigns.openAndComplete)
  const inboxes = Effect.flatMap(InboxRepository, ({ organizations }) => organizations)
  const hits = Effect.flatMap(HitRepository, ({ waiting }) => waiting)
  const work = [
    repeatWhenDue(
      "publish",
      "campaigns",
      Effect.map(publishChunk(), (isPublished) => untilMore(isPublished ? 1 : undefined)),
    ),
    // Separate, so that a long publication doesn't delay the windows of other campaigns.
    repeatWhenDue("openAndComplete", "campaigns", openAndComplete),
    repeatWhenDue("pauseOnComplaints", "campaigns", Effect.as(pauseOnComplaints, untilMore(undefined))),
    repeatWhenDue("applyInbox", "inbox", Effect.map(processInTurns("applyInbox", inboxes, applyBatch), untilMore)),
    deliver({ schedule: config.webhookRetryDelays, drainSeconds, ...config.webhooks }),
    replay,
    sendOutreach({ ...mail, drainSeconds }),
    ...(mail.bouncePort === null
      ? []
      : [retryForever("receiveBounces", receiveBounces({ host: mail.bounceHost, port: mail.bouncePort }))]),
    repeatWhenDue("judgeHits", "hits", Effect.map(processInTurns("judgeHits", hits, judgeHits), untilMore)),
    repeatWhenDue(
      "unsubscribe",
      "suppressions",
      Effect.map(applyUnsubscriptions, (done) => untilMore(done || undefined)),
    ),
    // Withdraws recipients whose address bounced or complained in another campaign.
    repeatWhenDue("withdrawSuppressed", "suppressions", Effect.map(withdrawSuppressed, untilMore)),
    countCampaigns,
    endRemovedEndpoints,
    deleteExpired,
    closeFailureGroups,
    managePartitions(config.retention),
    mergeOutcomes(config.retention.historyDays),
    noticeFailingEndpoints({ hours: config.failing, consoleUrl: config.consoleUrl, ...mail }),
    ...(recipientsMonths === null ? [] : [eraseEndedRecipients(recipientsMonths)]),
  ]
  const loops = [
    runWhileServing(Effect.all(work, { concurrency: "unbounded", discard: true }), config.failoverSeconds),
    watchClock,
    readGauges,
  ]
  // Sending starts only after a stored secret was decrypted, even if the database is unavailable for long.
  const working = Effect.flatMap(DatabaseMonitor, ({ secretsRead }) =>
    Effect.andThen(secretsRead, Effect.all(loops, { concurrency: "unbounded", discard: true })),
  )
  const process = [working, admin({ host: config.adminHost, port: config.adminPort })]
  yield* exportFromStart({ ...metrics, ...hintMetrics, ...monitorMetrics })
  yield* Effect.logInfo("worker started").pipe(
    Effect.andThen(Effect.all(process, { concurrency: "unbounded", discard: true })),
    Effect.provide(ports),
  )
})
