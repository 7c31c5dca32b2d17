import { OwnReturnPaths } from "@outreach/backoffice/bounces/explainFiles"
import { Diagnoses } from "@outreach/backoffice/operations/diagnoses"
import { ConsoleAddress } from "@outreach/backoffice/operators/ConsoleAddress"
import { linkHostOf } from "@outreach/backoffice/senders/linkDomainFindings"
import { lookUpSender, SenderSetup } from "@outreach/backoffice/senders/SenderSetup"
import { TEST_TIMEOUT_MS } from "@outreach/domain/deliveries/Endpoints"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { generateDkimKeyPair, readDkimKeyPair } from "@outreach/mail/dkimKeys"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { dnsServers } from "@outreach/process/dnsServers"
import { secretsKey } from "@outreach/process/settings"
import { partnerNames } from "@outreach/webhooks/partnerNames"
import { Effect, FileSystem, Layer } from "effect"
import { refusal } from "./output/Output.ts"
import { linkTarget, Target } from "./Target.ts"

const MAX_BYTES = 65_536

/** Reads a private signing key: RSA, PKCS#8 or PKCS#1, PEM or DER in base64. */
const readKeyPair = Effect.fnUntraced(function* (file: string) {
  const { stat, readFileString } = yield* FileSystem.FileSystem
  // Without any part of the file.
  const unusable = (reason: string) => refusal("DkimKeyUnusable", `The key file ${file} ${reason}.`, { file, reason })
  const { size } = yield* Effect.mapError(stat(file), () => unusable("cannot be read"))
  if (size > MAX_BYTES) return yield* Effect.fail(unusable("contains no RSA key"))
  const text = yield* Effect.mapError(readFileString(file), () => unusable("cannot be read"))
  return (
    readDkimKeyPair(text) ??
    (yield* Effect.fail(unusable("contains no RSA key of at least 1024 bits: PKCS#8 or PKCS#1, PEM or DER in base64")))
  )
})

/** The target's means to set up senders. */
export const senderSetup = Layer.effect(
  SenderSetup,
  Effect.gen(function* () {
    const target = yield* linkTarget
    const files = yield* FileSystem.FileSystem
    return {
      linkHost: linkHostOf(target.publicBaseUrl),
      lookUp: (sender, linkDomain, dnsServer) =>
        lookUpSender(dnsServer === undefined ? [] : [dnsServer], target, sender, linkDomain),
      keyPair: (file) =>
        file === undefined
          ? generateDkimKeyPair
          : Effect.provideService(readKeyPair(file), FileSystem.FileSystem, files),
    }
  }),
)

/** Calls endpoints like a worker. */
export const webhookClient = Layer.unwrap(
  Effect.gen(function* () {
    const { allowHttp } = yield* Target
    const { HttpWebhookClient, NodeSigner } = yield* Effect.promise(
      () => import("@outreach/webhooks/HttpWebhookClient"),
    )
    const names = partnerNames(yield* dnsServers)
    return Layer.merge(
      NodeSigner,
      HttpWebhookClient({ allowPrivateAddresses: allowHttp, callMs: TEST_TIMEOUT_MS, names }),
    )
  }),
)

export const consoleAddress = Layer.effect(
  ConsoleAddress,
  Effect.flatMap(Target, ({ consoleUrl }) => Effect.map(consoleUrl, (linkUrl) => ({ linkUrl }))),
)

/** The return paths of the target's keys, or without a database of `SECRETS_KEY`. */
export const ownReturnPaths = Layer.effect(
  OwnReturnPaths,
  Effect.flatMap(Target, (target) => target.secretsKey).pipe(
    Effect.provide(Target.layer),
    Effect.catch(() => secretsKey),
    Effect.flatMap((keys) =>
      Effect.provide(ReturnPaths, ReturnPaths.at("localhost").pipe(Layer.provide(NodeTrackingSeal(keys)))),
    ),
    Effect.orElseSucceed(() => undefined),
    Effect.map((returnPaths) => ({ returnPaths })),
  ),
)

/** Loads the checks of `doctor` or the readers of `status` when they run. */
export const diagnoses = Layer.succeed(Diagnoses, {
  doctor: Effect.fnUntraced(function* ({ dnsServer }) {
    const { runDoctor } = yield* Effect.promise(() => import("./doctor/runDoctor.ts"))
    yield* runDoctor(dnsServer)
  }),
  status: Effect.fnUntraced(function* (options) {
    const { showStatus } = yield* Effect.promise(() => import("./status/showStatus.ts"))
    yield* showStatus(options)
  }),
})
