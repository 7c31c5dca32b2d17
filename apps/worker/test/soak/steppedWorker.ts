import { writeSync } from "node:fs"
import { Socket } from "node:net"
import { Deployment } from "@outreach/domain/Deployment"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { WebhookClient } from "@outreach/domain/deliveries/WebhookClient"
import { adapters } from "@outreach/postgres/adapters"
import { SecretCipher } from "@outreach/postgres/deliveries/SecretCipher"
import { databaseLayer } from "@outreach/postgres-connection/databaseLayer"
import { runProcess } from "@outreach/process/runProcess"
import { telemetry } from "@outreach/process/telemetry"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { deliver } from "../../src/deliveries/deliver.ts"
import { WorkerConfig } from "../../src/WorkerConfig.ts"
import type { Step } from "./startFleet.ts"

const dieAt = process.env["DIE_AT"] as Step
const oneIn = Number(process.env["DIE_ONE_IN"])

const perhapsDie = (step: Step): void => {
  // Takeovers are rare.
  if (step !== dieAt || (step !== "during takeover" && Math.random() * oneIn >= 1)) return
  writeSync(1, `${step}\n`)
  process.kill(process.pid, "SIGKILL")
}
const perhaps = (step: Step) => Effect.sync(() => perhapsDie(step))

// Identifies a write of progress by its parameters. Once the kernel has it, it is sent, and its reply hasn't been read.
const write = Socket.prototype.write as (...given: unknown[]) => boolean
Socket.prototype.write = function (this: Socket, ...given: unknown[]) {
  const [chunk] = given
  const isProgress = chunk instanceof Uint8Array && Buffer.from(chunk).includes('"attempt":{"number":')
  return write.apply(this, isProgress ? [chunk, () => perhapsDie("inside write")] : given)
}

/** Delivers like the worker, and randomly dies at one step. */
const worker = Effect.gen(function* () {
  const { database, secretsKey, webhooks, webhookRetryDelays: schedule, drainSeconds } = yield* WorkerConfig
  const delivering = Effect.gen(function* () {
    const leases = yield* DeliveryLeases
    const client = yield* WebhookClient
    return yield* deliver({ schedule, drainSeconds, ...webhooks }).pipe(
      Effect.provideService(DeliveryLeases, {
        ...leases,
        acquire: (...given) =>
          Effect.tap(leases.acquire(...given), ({ takenOver }) =>
            takenOver > 0 ? perhaps("during takeover") : Effect.void,
          ),
        read: (...given) =>
          Effect.tap(leases.read(...given), ({ length }) => (length > 0 ? perhaps("after read") : Effect.void)),
        write: (...given) => Effect.andThen(perhaps("before write"), leases.write(...given)),
      }),
      Effect.provideService(WebhookClient, {
        post: (...call) =>
          perhaps("before POST").pipe(Effect.andThen(client.post(...call)), Effect.tap(perhaps("after POST"))),
      }),
    )
  })
  return yield* delivering.pipe(
    Effect.provide(
      adapters.pipe(
        Layer.provideMerge(databaseLayer({ database, applicationName: "outreach-worker" })),
        Layer.provideMerge(Layer.succeed(Deployment, { livemode: false })),
        Layer.provideMerge(Layer.succeed(SecretCipher, SecretCipher.make(secretsKey))),
        Layer.provideMerge(SecureRandom.layerWebCrypto),
        Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: webhooks.callSeconds * 1000 })),
        Layer.merge(NodeSigner),
      ),
    ),
  )
})

runProcess(worker.pipe(Effect.provide(telemetry("outreach-worker"))))
