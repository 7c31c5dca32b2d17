import { describe, expect, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { CampaignId, createIdentifier, Identifier, type Kind, PREFIXES } from "../src/Identifier.ts"

const kinds = Object.keys(PREFIXES) as Array<Kind>

describe("createIdentifier", () => {
  it.effect("makes ids of every kind that only their own kind recognises", () =>
    Effect.gen(function* () {
      for (const kind of kinds) {
        const id = yield* createIdentifier(kind)
        expect(id).toMatch(/^[a-z]{3}_[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/)
        expect(kinds.filter((other) => Schema.is(Identifier(other))(id))).toEqual([kind])
      }
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)),
  )

  it.effect("makes ids that sort by creation", () =>
    Effect.gen(function* () {
      const ids = yield* Effect.forEach(Array.from({ length: 1000 }), () => createIdentifier("event"))
      expect(ids).toEqual([...new Set(ids)].sort())
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)),
  )
})

it.each([
  "",
  "cmp_",
  `cmp_${"0".repeat(31)}`,
  `cmp_${"0".repeat(33)}`,
  `cmp_${"A".repeat(32)}`,
  `cmp_${"0".repeat(32)}\n`,
  `CMP_${"0".repeat(32)}`,
  `cmp-${"0".repeat(32)}`,
  `x_cmp_${"0".repeat(32)}`,
])("Identifier refuses %j", (text) => {
  expect(Schema.is(CampaignId)(text)).toBe(false)
})
