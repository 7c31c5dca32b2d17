import { describe, expect, it } from "@effect/vitest"
import { testDatabase } from "@outreach/embedded-postgres/testDatabase"
import { Effect, Redacted } from "effect"
import { databaseLayer } from "../src/databaseLayer.ts"
import { migrate } from "../src/migrate.ts"

const url = testDatabase({ name: "empty", sources: [], migrate: async () => {} })

describe("migrate", () => {
  it("runs every migration once, though several processes begin at the same time", async () => {
    const once = () =>
      Effect.runPromise(
        Effect.provide(migrate, databaseLayer({ url: Redacted.make(url()), applicationName: "migrate" })),
      )
    const ran = (await Promise.all([once(), once(), once()])).flat()
    expect(ran.map(([id]) => id).sort((a, b) => a - b)).toEqual(ran.map((_, i) => i + 1))
    expect(ran.length).toBeGreaterThan(0)
    expect(await once()).toEqual([])
  })
})
