import { afterAll } from "vitest"
import type { AtEnd } from "./startProcess.ts"

/** Returns a function that registers cleanups, which run in reverse order after the tests. vitest ignores an `afterAll` within a hook. */
export const afterTests = (): AtEnd => {
  const ends: Array<() => Promise<void>> = []
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  return (end) => void ends.push(end)
}
