import { createServer } from "node:http"
import { listKeyUses, resealCiphertexts } from "@outreach/backoffice/keys/keysAtRest"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { KeyRing } from "@outreach/domain/KeyRing"
import { verify } from "@outreach/signature/node"
import { adaptersFor, SECRETS_RING } from "@outreach/testing/adaptersFor"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { migratedDatabase } from "@outreach/testing/runOnDatabase"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { deliver } from "@outreach/worker/deliveries/deliver"
import { Effect, Layer, Redacted } from "effect"
import { expect, it } from "vitest"

const url = migratedDatabase()
const run = <A, E>(effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>) =>
  Effect.runPromise(Effect.provide(effect, adaptersFor(url())))

const [k1] = SECRETS_RING
const k2 = { id: "k2", mark: 2, key: Redacted.make(Buffer.alloc(32, 8)) }
const ROUNDS = 8
const EVENTS_PER_ROUND = 20

it("is signed beside a reseal and processes whose newest key is the older one, and then with the new key alone", async () => {
  const secrets: Array<string> = []
  const received = { verified: 0, forged: 0 }
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    try {
      verify(request.headers["x-signature"] as string, body, secrets.slice(-2), { now: Date.now() / 1000 })
      received.verified++
    } catch {
      received.forged++
    }
    response.end()
  })
  const endpointUrl = `http://127.0.0.1:${await listen(server)}/`
  const { organization, campaign, secret } = await run(seedCampaign({ recipients: 0, endpointUrl }))
  secrets.push(Redacted.value(secret))

  /** Runs a worker with these keys until an effect ends that runs beside it with the same keys. */
  const besideWorker = <A, E>(
    keys: KeyRing,
    effect: Effect.Effect<A, E, Layer.Success<ReturnType<typeof adaptersFor>>>,
  ) =>
    Effect.raceFirst(
      effect,
      deliver({
        schedule: SPECIFIED_SCHEDULE,
        drainSeconds: 0,
        maxInFlight: 100,
        perEndpoint: 16,
        callSeconds: 15,
        leaseSeconds: 9,
      }).pipe(
        Effect.provide(Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 5000 }), NodeSigner)),
      ),
    ).pipe(Effect.provide(adaptersFor(url(), { secretsKeys: keys })), Effect.runPromise)
  const delivered = (count: number) =>
    Effect.promise(() =>
      eventually(
        () => received.verified + received.forged,
        (calls) => calls >= count,
      ),
    )
  const ignore = () => Effect.void

  await besideWorker(
    [k2, k1],
    Effect.gen(function* () {
      let resealed = 0
      for (let round = 1; round <= ROUNDS; round++) {
        // In even rounds another process makes the secret, whose newest key is still the older one.
        const rotate = rotateSecret(organization.id, 3600)
        const made = yield* round % 2 === 0 ? Effect.promise(() => run(rotate)) : rotate
        secrets.push(Redacted.value(made))
        const work = [publishSent(campaign, EVENTS_PER_ROUND), resealCiphertexts(ignore)] as const
        const [, result] = yield* Effect.all(work, { concurrency: "unbounded" })
        resealed += result.resealed
        yield* delivered(round * EVENTS_PER_ROUND)
      }
      // The first secret and those of the even rounds were under the older key.
      expect(resealed).toBe(1 + ROUNDS / 2)
    }),
  )
  await besideWorker(
    [k2],
    Effect.gen(function* () {
      const uses = (yield* listKeyUses(ignore)).filter(({ table }) => table === "signing_secrets")
      expect(uses).toEqual([{ table: "signing_secrets", keyId: "k2", ciphertexts: 1 + ROUNDS }])
      yield* publishSent(campaign, EVENTS_PER_ROUND)
      yield* delivered((ROUNDS + 1) * EVENTS_PER_ROUND)
    }),
  )
  expect(received).toEqual({ verified: (ROUNDS + 1) * EVENTS_PER_ROUND, forged: 0 })
})
