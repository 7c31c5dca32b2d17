import { createServer } from "node:http"
import { listKeyUses, resealCiphertexts } from "@outreach/backoffice/keys/keysAtRest"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { verify } from "@outreach/signature/node"
import { adaptersFor, SECRETS_RING } from "@outreach/testing/adaptersFor"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { Changes, until } from "@outreach/testing/until"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { deliver } from "@outreach/worker/deliveries/deliver"
import { Effect, Layer, Redacted } from "effect"
import { expect, it } from "vitest"

const url = migratedDatabase()
type Adapters = Layer.Success<ReturnType<typeof adaptersFor>>
const run = <A, E>(effect: Effect.Effect<A, E, Adapters>, secretsKeys: KeyRing = SECRETS_RING) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url(), { secretsKeys })))

const [k1] = SECRETS_RING
const k2 = { id: "k2", mark: 2, key: Redacted.make(Buffer.alloc(32, 8)) }
const ROUNDS = 4
const EVENTS_PER_ROUND = 10

it("signs webhooks during a reseal next to processes with the older key, and then with only the new key", async () => {
  const secrets: Array<string> = []
  const received = { changes: new Changes(), verified: 0, forged: 0 }
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    try {
      verify(request.headers["x-signature"] as string, body, secrets.slice(-2), { now: Date.now() / 1000 })
      received.verified++
    } catch {
      received.forged++
    }
    response.end()
    received.changes.announce()
  })
  const endpointUrl = `http://127.0.0.1:${await listen(server)}/`
  const { organization, campaign, secret } = await run(seedCampaign({ recipients: 0, endpointUrl }))
  secrets.push(Redacted.value(secret))

  const limits = { drainSeconds: 0, maxInFlight: 100, perEndpoint: 16, callSeconds: 15, leaseSeconds: 9 }
  const client = Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 5000 }), NodeSigner)
  /** Runs a worker with these keys until an effect with the same keys is over. */
  const withWorker = <A, E>(keys: KeyRing, effect: Effect.Effect<A, E, Adapters>) => {
    const worker = Effect.provide(deliver({ ...limits, schedule: SPECIFIED_SCHEDULE }), client)
    return run(Effect.raceFirst(effect, worker), keys)
  }
  const delivered = (count: number) =>
    Effect.promise(() => until(received, ({ verified, forged }) => verified + forged >= count))
  const ignore = () => Effect.void

  await withWorker(
    [k2, k1],
    Effect.gen(function* () {
      let resealed = 0
      for (let round = 1; round <= ROUNDS; round++) {
        // In even rounds the secret is made by a process that only has the older key.
        const rotate = rotateSecret(organization.id, 3600)
        const made = yield* round % 2 === 0 ? Effect.promise(() => run(rotate)) : rotate
        secrets.push(Redacted.value(made))
        const work = [publishSent(campaign, EVENTS_PER_ROUND), resealCiphertexts(ignore)] as const
        const [, result] = yield* Effect.all(work, { concurrency: "unbounded" })
        resealed += result.resealed
        yield* delivered(round * EVENTS_PER_ROUND)
      }
      // The first secret and those of the even rounds were encrypted with the older key.
      expect(resealed).toBe(1 + ROUNDS / 2)
    }),
  )
  await withWorker(
    [k2],
    Effect.gen(function* () {
      const uses = (yield* listKeyUses(ignore)).filter(({ table }) => table === "signing_secrets")
      expect(uses).toEqual([{ table: "signing_secrets", keyId: "k2", ciphertexts: 1 + ROUNDS }])
      yield* publishSent(campaign, EVENTS_PER_ROUND)
      yield* delivered((ROUNDS + 1) * EVENTS_PER_ROUND)
    }),
  )
  expect(received).toMatchObject({ verified: (ROUNDS + 1) * EVENTS_PER_ROUND, forged: 0 })
})
