import { createHmac } from "node:crypto"
import { Layer } from "effect"
import { TrackingSeal } from "../../src/hits/TrackingLinks.ts"

export interface TestKey {
  readonly key: string
  /** Default 1. */
  readonly mark?: number
}

/** Seals with the first of these keys, or with the tests' key. */
export const testSeal = (...given: ReadonlyArray<TestKey>) => {
  const keys = (given.length > 0 ? given : [{ key: "key" }]).map(({ key, mark = 1 }) => ({ key, mark }))
  const newest = keys[0]!
  const sealWith = (key: string, bytes: Uint8Array) => createHmac("sha256", key).update(bytes).digest().subarray(0, 16)
  return Layer.succeed(TrackingSeal, {
    mark: newest.mark,
    seal: (bytes) => sealWith(newest.key, bytes),
    isSealed: (bytes, seal, found) =>
      keys.some(({ key, mark }) => mark === found && sealWith(key, bytes).subarray(0, seal.length).equals(seal)),
  })
}
