import { describe, expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { randomBase62 } from "../src/Identifier.ts"

const occurrences = (text: string): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  return counts
}

/** A source that returns 0, 1, … 255 repeatedly, so each byte equally often. */
const everyByteInTurn = Layer.effect(
  SecureRandom.SecureRandom,
  Effect.gen(function* () {
    const source = yield* SecureRandom.SecureRandom
    let next = 0
    return {
      ...source,
      randomBytes: (size: number) => Effect.sync(() => Uint8Array.from({ length: size }, () => next++ % 256)),
    }
  }),
).pipe(Layer.provide(SecureRandom.layerWebCrypto))

describe("randomBase62", () => {
  it.effect("gives each of the 62 characters the same share of the bytes", () =>
    Effect.gen(function* () {
      const counts = occurrences(yield* randomBase62(248))
      expect([...counts.keys()].sort().join("")).toMatch(/^[0-9]{10}[A-Z]{26}[a-z]{26}$/)
      expect(new Set(counts.values())).toEqual(new Set([4]))
    }).pipe(Effect.provide(everyByteInTurn)),
  )

  it.effect("returns the requested length, even if many bytes are discarded", () =>
    Effect.gen(function* () {
      for (const length of [0, 1, 6, 30, 1000]) expect(yield* randomBase62(length)).toHaveLength(length)
    }).pipe(Effect.provide(everyByteInTurn)),
  )
})
