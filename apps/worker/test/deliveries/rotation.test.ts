import { createServer } from "node:http"
import { expect, it } from "@effect/vitest"
import { SPECIFIED_SCHEDULE } from "@outreach/domain/deliveries/deliverySchedule"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import { verify } from "@outreach/signature/node"
import { eventually } from "@outreach/testing/eventually"
import { listen } from "@outreach/testing/listen"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { deliver } from "../../src/deliveries/deliver.ts"
import { journey } from "../journey.ts"

const { run, query } = journey()

interface Call {
  readonly deliveryId: string
  readonly header: string
  readonly body: Buffer
}

it("is verified by whoever holds one secret alone, old or new, from the rotation to the end of the grace window", async () => {
  const calls: Array<Call> = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const { "x-delivery-id": deliveryId, "x-signature": header } = request.headers
    calls.push({ deliveryId: String(deliveryId), header: String(header), body })
    response.end()
  })
  const url = `http://127.0.0.1:${await listen(server)}/`
  const seeded = await run(seedCampaign({ recipients: 0, endpointUrl: url }))
  const { organization, campaign, endpoint, secret: first } = seeded
  const verifies = ({ header, body }: Call, secret: Redacted.Redacted) => {
    try {
      verify(header, body, [Redacted.value(secret)], { now: Date.now() / 1000 })
      return true
    } catch {
      return false
    }
  }
  const worker = deliver({
    schedule: SPECIFIED_SCHEDULE,
    drainSeconds: 0,
    maxInFlight: 100,
    perEndpoint: 16,
    callSeconds: 15,
    leaseSeconds: 9,
  })
  const ports = Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 5000 }), NodeSigner)
  const rotation = Effect.gen(function* () {
    const secrets = [first]
    /** For each rotation, the deliveries of events that were published before it, which may be signed without its secret. */
    const publishedBefore: Array<ReadonlySet<string>> = []
    for (let i = 0; i < 3; i++) {
      secrets.push(yield* rotateSecret(organization.id, 3600))
      // What is published from now on is read after the rotation.
      const published = yield* Effect.promise(() =>
        query<{ id: string }>((sql) => sql`select delivery_id(id, ${endpoint.id}) as id from events`),
      )
      publishedBefore.push(new Set(published.map(({ id }) => id)))
      yield* publishSent(campaign, 60)
    }
    return { secrets, publishedBefore }
  })
  const { secrets, publishedBefore } = await run(
    Effect.raceFirst(
      Effect.gen(function* () {
        const publishing = yield* Effect.forkScoped(publishSent(campaign, 240))
        const rotated = yield* rotation
        yield* Fiber.join(publishing)
        yield* Effect.promise(() =>
          eventually(
            () => calls.length,
            (count) => count === 420,
          ),
        )
        return rotated
      }).pipe(Effect.scoped),
      Effect.provide(worker, ports),
    ),
  )
  expect(calls).toHaveLength(420)
  // The old secret stays good all along; each new one from its rotation on.
  expect(calls.filter((call) => !verifies(call, first))).toEqual([])
  for (const [i, before] of publishedBefore.entries()) {
    const after = calls.filter(({ deliveryId }) => !before.has(deliveryId))
    expect(after.length).toBeGreaterThanOrEqual(60)
    expect(after.filter((call) => !verifies(call, secrets[i + 1]!))).toEqual([])
  }
})
