import { afterAll } from "vitest"
import type { AtEnd } from "./startProcess.ts"

/** Returns a function for the hooks of a file, because vitest ignores an `afterAll` within a hook. It registers ends, which run last to first after the tests. */
export const afterTests = (): AtEnd => {
  const ends: Array<() => Promise<void>> = []
  afterAll(async () => {
    for (const end of ends.splice(0).reverse()) await end()
  })
  return (end) => void ends.push(end)
}
