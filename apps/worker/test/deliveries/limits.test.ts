import type { EndpointSettings } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/EndpointRepository"
import { createLogReplay } from "@outreach/domain/deliveries/Replays"
import { Timestamp } from "@outreach/domain/Timestamp"
import { schedule } from "@outreach/retry-policy"
import { eventually } from "@outreach/testing/eventually"
import { partner, type Received } from "@outreach/testing/partner"
import { publishSent, publishTogether } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { HttpWebhookClient, NodeSigner } from "@outreach/webhooks/HttpWebhookClient"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"
import { deliver } from "../../src/deliveries/deliver.ts"
import { replay } from "../../src/deliveries/replay.ts"
import { journey, type Services } from "../journey.ts"

const { run } = journey()

/** Runs workers for as long as an effect lasts. */
const besideWorkers = <A, E>(count: number, effect: Effect.Effect<A, E, Services>) => {
  const bounds = { drainSeconds: 0, maxInFlight: 512, perEndpoint: 16, callSeconds: 15, leaseSeconds: 9 }
  const worker = Effect.scoped(Effect.raceFirst(deliver({ schedule: schedule("1h"), ...bounds }), replay))
  const workers = Effect.all(Array(count).fill(worker), { concurrency: "unbounded" }).pipe(
    Effect.provide(Layer.merge(HttpWebhookClient({ allowPrivateAddresses: true, callMs: 600_000 }), NodeSigner)),
  )
  return run(Effect.raceFirst(effect, workers as Effect.Effect<never, never, Services>))
}

/** Starts a partner that counts the calls in flight, and an endpoint with settings. */
const startEndpoint = async (settings: Partial<EndpointSettings>) => {
  const inFlight = { now: 0, most: 0 }
  const to = await partner((_, response) => {
    inFlight.most = Math.max(inFlight.most, ++inFlight.now)
    setImmediate(() => {
      inFlight.now--
      response.end()
    })
  })
  const seeded = await run(seedCampaign({ recipients: 0, endpointUrl: to.url }))
  to.trust(seeded.secret)
  await run(EndpointRepository.use(({ update }) => update(seeded.endpoint.id, settings)))
  return {
    ...seeded,
    to,
    inFlight,
    received: (count: number) =>
      Effect.promise(() =>
        eventually(
          () => to.received.length,
          (length) => length >= count,
        ),
      ),
  }
}
const idsOf = (received: ReadonlyArray<Received>) => received.map(({ event }) => event.event_id)

it("sends no more in a second than an endpoint takes, and all of it", async () => {
  const { campaign, to, received } = await startEndpoint({ perSecond: 20 })
  const published = await run(publishTogether(campaign, 70))
  const began = performance.now()
  await besideWorkers(2, received(70))
  // One second in which another worker may have called, three of twenty calls, and ten calls of the next. A busy machine only takes longer.
  expect(performance.now() - began).toBeGreaterThanOrEqual(4000)
  expect(idsOf(to.received)).toEqual(published)
})

it("has no more calls in flight than an endpoint takes", async () => {
  const { campaign, to, inFlight, received } = await startEndpoint({ maxInFlight: 2 })
  const published = await run(publishTogether(campaign, 200))
  await besideWorkers(2, received(200))
  expect(idsOf(to.received).sort()).toEqual([...published].sort())
  expect(inFlight.most).toBe(2)
})

it("sends what is published during a replay before the rest of it, at an endpoint's rate", async () => {
  const { campaign, endpoint, to, received } = await startEndpoint({ perSecond: 50 })
  const log = await run(publishTogether(campaign, 150))
  const range = {
    endpointId: endpoint.id,
    from: Timestamp.make("2020-01-01T00:00:00.000000Z"),
    to: Timestamp.make("2100-01-01T00:00:00.000000Z"),
  }
  await besideWorkers(
    1,
    Effect.gen(function* () {
      yield* received(150)
      yield* createLogReplay(range, 10_000)
      for (let round = 1; round <= 3; round++) {
        yield* received(150 + round * 20)
        const before = to.received.length
        const [live] = yield* publishSent(campaign, 1)
        const isLive = ({ event }: Received) => event.event_id === live
        yield* Effect.promise(() =>
          eventually(
            () => to.received.findIndex(isLive),
            (index) => index >= 0,
          ),
        )
        // Not more than a second's calls go before it.
        expect(to.received.findIndex(isLive) - before).toBeLessThanOrEqual(50)
      }
      yield* received(303)
    }),
  )
  const count = new Map<string, number>()
  for (const id of idsOf(to.received)) count.set(id, (count.get(id) ?? 0) + 1)
  expect(log.map((id) => count.get(id))).toEqual(Array(150).fill(2))
})
