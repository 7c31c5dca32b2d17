import { createIdentifier } from "@outreach/domain/Identifier"
import { effectTest } from "@outreach/testing/effectTest"
import { runOnDatabase } from "@outreach/testing/runOnDatabase"
import { Deferred, Effect, References } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect } from "vitest"
import { HitQueue } from "../../src/tracking/HitQueue.ts"
import { seedMessages } from "./seedMessages.ts"

const test = effectTest(runOnDatabase())

describe("HitQueue", () => {
  test("keeps the first 20,000 of a flood while the database takes none, and stores them with what was under way", function* () {
    const sql = yield* SqlClient.SqlClient
    const { addressees } = yield* seedMessages(1)
    const { organizationId, recipientId } = addressees[0]!
    const offer = Effect.gen(function* () {
      const hit = { organizationId, recipientId, link: null, method: "GET", address: "198.51.100.7", headers: {} }
      yield* (yield* HitQueue).offer({ ...hit, id: yield* createIdentifier("hit") })
    })
    const locked = yield* Deferred.make<void>()
    const flooded = yield* Deferred.make<void>()
    const lock = sql`lock table hits in access exclusive mode`.pipe(
      Effect.andThen(Deferred.succeed(locked, undefined)),
      Effect.andThen(Deferred.await(flooded)),
      sql.withTransaction,
    )
    const flood = Effect.gen(function* () {
      yield* Deferred.await(locked)
      yield* Effect.forEach(Array.from({ length: 25_000 }), () => offer, { discard: true })
      yield* Deferred.succeed(flooded, undefined)
      // The scope ends here: what waits is stored first.
    }).pipe(Effect.provide(HitQueue.layer), Effect.provideService(References.MinimumLogLevel, "None"))

    yield* Effect.all([lock, flood], { concurrency: "unbounded" })
    const [row] = yield* sql<{ count: number }>`select sum(1 + repeats)::int as count from hits`
    expect(row!.count).toBeGreaterThanOrEqual(20_000)
    expect(row!.count).toBeLessThanOrEqual(21_000)
  })
})
