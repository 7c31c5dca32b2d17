import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RecipientId } from "../../src/Identifier.ts"
import { testReturnPaths } from "./testReturnPaths.ts"

const paths = testReturnPaths("Bounces.acme.test")
const recipientId = fc.stringMatching(/^[0-9a-f]{32}$/).map((hex) => RecipientId.make(`rcp_${hex}`))

describe("a return path", () => {
  it("names its recipient again, and fits a local part, whatever case the way back makes of it", () => {
    fc.assert(
      fc.property(recipientId, (id) => {
        const address = paths.of(id)
        expect(address).toMatch(/^[a-z0-9-]{1,64}@bounces\.acme\.test$/)
        expect(paths.read(address)).toBe(id)
        expect(paths.read(address.toUpperCase())).toBe(id)
      }),
    )
  })

  it("is not valid once any character of it is another", () => {
    const address = paths.of(RecipientId.make(`rcp_${"0a".repeat(16)}`))
    const property = fc.property(fc.nat(address.length - 1), fc.constantFrom(..."abcdef0123456789-@."), (i, other) => {
      fc.pre(address[i] !== other)
      expect(paths.read(address.slice(0, i) + other + address.slice(i + 1))).toBeUndefined()
    })
    fc.assert(property, { numRuns: 300 })
  })

  it.each(["", "postmaster@bounces.acme.test", `bounce-${"0a".repeat(16)}@bounces.acme.test`])(
    "is not %j, which nobody sealed",
    (address) => {
      expect(paths.read(address)).toBeUndefined()
    },
  )

  it("of another key is not valid", () => {
    const id = RecipientId.make(`rcp_${"0a".repeat(16)}`)
    expect(testReturnPaths("bounces.acme.test", "other").read(paths.of(id))).toBeUndefined()
  })
})
