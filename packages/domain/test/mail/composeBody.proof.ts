import fc from "fast-check"
import { it } from "vitest"
import { composesAlike } from "./composesAlike.ts"

it("comes to the same for all recipients at once as for each by itself, for 5,000 bodies", () => {
  fc.assert(composesAlike)
})
