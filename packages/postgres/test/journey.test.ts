import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { EventEnvelope } from "@outreach/contract"
import { CampaignBook } from "@outreach/domain/campaigns/CampaignBook"
import { commandCampaign, publishChunk } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryQueue } from "@outreach/domain/deliveries/DeliveryQueue"
import { Effect, type Layer, ManagedRuntime } from "effect"
import { adaptersFor } from "./adaptersFor.ts"
import { migratedDatabase } from "./migratedDatabase.ts"
import { seedCampaign } from "./seedCampaign.ts"

const url = migratedDatabase()
type Services = Layer.Success<ReturnType<typeof adaptersFor>>
let runtime: ManagedRuntime.ManagedRuntime<Services, unknown>
beforeAll(() => {
  runtime = ManagedRuntime.make(adaptersFor(url()))
})
afterAll(() => runtime.dispose())
const run = <A, E>(effect: Effect.Effect<A, E, Services>): Promise<A> => runtime.runPromise(effect)

describe("x", () => {
  it("x", () =>
    run(
      Effect.gen(function* () {
        const { campaign } = yield* seedCampaign({ recipients: 1203 })
        yield* commandCampaign(campaign.id, "schedule")
        while (yield* publishChunk()) {}
        const queue = yield* DeliveryQueue
        const leases = yield* queue.claim({ limit: 10, perEndpoint: 2, leaseSeconds: 10 })
        console.log(leases.map((l) => ({ ...l, body: l.body.slice(0, 400) })))
        yield* queue.settle(
          leases[0]!,
          {
            number: 1,
            startedAt: "2026-11-21T00:00:00.000000Z",
            latencyMs: 1,
            status: 200,
            outcome: "success",
            response: "ok",
          },
          { state: "delivered" },
        )
        const book = yield* CampaignBook
        yield* book.advance
        console.log(yield* book.find(campaign.id), yield* book.progress(campaign.id))
      }),
    ))
})
