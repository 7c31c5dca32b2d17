import { ConsoleAddress } from "@outreach/backoffice/operators/ConsoleAddress"
import { linkHostOf, lookUpSender, SenderSetup } from "@outreach/backoffice/senders/SenderSetup"
import { TEST_TIMEOUT_MS } from "@outreach/domain/deliveries/Endpoints"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { dnsServers } from "@outreach/process/dnsServers"
import { secretsKey } from "@outreach/process/settings"
import { webhookProxy } from "@outreach/process/webhookProxy"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, Layer } from "effect"
import { linkTarget, Target } from "./Target.ts"

/** The target's means to set up senders. */
export const senderSetup = Layer.effect(
  SenderSetup,
  Effect.map(linkTarget, (target) => ({
    linkHost: linkHostOf(target.publicBaseUrl),
    lookUp: (sender, linkDomain, dnsServer) =>
      lookUpSender(dnsServer === undefined ? [] : [dnsServer], target, sender, linkDomain),
  })),
)

/** Calls endpoints like a worker. */
export const webhookClient = Layer.unwrap(
  Effect.gen(function* () {
    const { allowHttp } = yield* Target
    const { HttpWebhookClient, NodeSigner } = yield* Effect.promise(
      () => import("@outreach/webhooks/HttpWebhookClient"),
    )
    const names = partnerNames(yield* dnsServers)
    const proxy = yield* webhookProxy
    return Layer.merge(
      NodeSigner,
      HttpWebhookClient({ allowPrivateAddresses: allowHttp, callMs: TEST_TIMEOUT_MS, names, proxy }),
    )
  }),
)

export const consoleAddress = Layer.effect(
  ConsoleAddress,
  Effect.flatMap(Target, ({ consoleUrl }) => Effect.map(consoleUrl, (linkUrl) => ({ linkUrl }))),
)

/** The return paths of the target's keys, or without a database of `SECRETS_KEY`; nothing without keys. */
export const returnPaths = Effect.flatMap(Target, ({ secretsKey }) => secretsKey).pipe(
  Effect.provide(Target.layer),
  Effect.catch(() => secretsKey),
  Effect.map((keys): Layer.Layer<never> => Layer.provide(ReturnPaths.at("localhost"), NodeTrackingSeal(keys))),
  Effect.orElseSucceed(() => Layer.empty),
  Layer.unwrap,
)
