import { type Hit, HitRepository } from "@outreach/domain/hits/Hits"
import type { HitId, OrganizationId, RecipientId } from "@outreach/domain/Identifier"
import { Deferred, Effect, References } from "effect"
import { expect, it } from "vitest"
import { HitQueue } from "../../src/tracking/HitQueue.ts"

it("keeps the first 20,000 hits of a flood while the database stores none, and stores them before it stops", async () => {
  const stored: Array<string> = []
  await Effect.gen(function* () {
    const isBack = yield* Deferred.make<void>()
    const record: HitRepository["Service"]["record"] = (hits) =>
      Effect.andThen(
        Deferred.await(isBack),
        Effect.sync(() => void stored.push(...hits.map(({ id }) => id))),
      )
    const flood = Effect.gen(function* () {
      const { offer } = yield* HitQueue
      for (let i = 0; i < 25_000; i++) {
        yield* offer({ ...HIT, id: `hit_${i}` as HitId })
        // The first hit leaves the queue and waits for the database.
        if (i === 0) yield* Effect.yieldNow
      }
      yield* Deferred.succeed(isBack, undefined)
    })
    yield* Effect.provide(flood, HitQueue.layer).pipe(
      Effect.provideService(HitRepository, { record } as HitRepository["Service"]),
      Effect.provideService(References.MinimumLogLevel, "None"),
    )
  }).pipe(Effect.runPromise)
  expect(stored.length).toBeGreaterThanOrEqual(20_000)
  expect(stored.length).toBeLessThanOrEqual(21_000)
  expect(stored).toEqual(stored.map((_, i) => `hit_${i}`))
})

const HIT: Omit<Hit, "id"> = {
  organizationId: "org_1" as OrganizationId,
  recipientId: "rcp_1" as RecipientId,
  link: null,
  method: "GET",
  address: "198.51.100.7",
  headers: {},
}
