import { expect, it } from "vitest"
import { assertSecrets } from "../src/index.ts"

it("accepts 1 to 16 secrets, and rejects other lists", () => {
  for (const count of [1, 16]) expect(() => assertSecrets(Array(count).fill("s"))).not.toThrow()
  const refused: [unknown, object][] = [
    [[], { code: "no_secrets" }],
    [Array(17).fill("s"), { code: "too_many_secrets" }],
    [["s", ""], { code: "empty_secret" }],
    ["whsec_alone", { name: "TypeError" }],
    [["s", undefined], { name: "TypeError" }],
    [[new Uint8Array(32)], { name: "TypeError" }],
    // biome-ignore lint/suspicious/noSparseArray: the hole is the case
    [["s", , "s"], { name: "TypeError" }],
  ]
  for (const [secrets, error] of refused) {
    expect(() => assertSecrets(secrets as string[])).toThrow(expect.objectContaining(error))
  }
})
