import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { RecipientId } from "../../../src/Identifier.ts"
import { testReturnPaths } from "../testReturnPaths.ts"

const paths = testReturnPaths("Bounces.acme.test")
const ring = testReturnPaths(
  "bounces.acme.test",
  { key: "newest", mark: 0xa7 },
  { key: "key" },
  { key: "other", mark: 0xa6 },
)
const recipientId = fc.stringMatching(/^[0-9a-f]{32}$/).map((hex) => RecipientId.make(`rcp_${hex}`))

describe("a return path", () => {
  it("identifies its recipient in any letter case, and fits into a local part", () => {
    fc.assert(
      fc.property(recipientId, (id) => {
        for (const each of [paths, ring]) {
          const address = each.of(id)
          expect(address).toMatch(/^[a-z0-9-]{1,64}@bounces\.acme\.test$/)
          expect(each.read(address)).toBe(id)
          expect(each.read(address.toUpperCase())).toBe(id)
        }
      }),
    )
  })

  it.each([
    ["", paths],
    [" though another key has the altered mark", ring],
  ])("is not valid once any character of it is another%s", (_, paths) => {
    const address = paths.of(RecipientId.make(`rcp_${"0a".repeat(16)}`))
    const property = fc.property(
      fc.nat(address.indexOf("@")),
      fc.constantFrom(..."abcdef0123456789-@."),
      (i, other) => {
        fc.pre(address[i] !== other)
        expect(paths.read(address.slice(0, i) + other + address.slice(i + 1))).toBeUndefined()
      },
    )
    fc.assert(property)
  })

  it.each(["", "postmaster@bounces.acme.test", `bounce-${"0a".repeat(16)}@bounces.acme.test`])(
    "is not %j, which nobody sealed",
    (address) => {
      expect(paths.read(address)).toBeUndefined()
    },
  )

  it("is read at any domain, because only its seal matters", () => {
    fc.assert(
      fc.property(recipientId, fc.domain(), (id, domain) => {
        expect(paths.of(id, domain).split("@")[1]).toBe(domain)
        expect(paths.read(paths.of(id, domain))).toBe(id)
      }),
    )
  })

  it("differs from the unsubscribe address, and neither accepts the other's seal", () => {
    fc.assert(
      fc.property(recipientId, (id) => {
        const [bounce, unsubscribe] = [paths.of(id), paths.unsubscribe(id)]
        expect(unsubscribe).toMatch(/^[a-z0-9-]{1,64}@bounces\.acme\.test$/)
        expect(paths.readUnsubscribe(unsubscribe.toUpperCase())).toBe(id)
        expect(paths.readUnsubscribe(bounce)).toBeUndefined()
        expect(paths.read(unsubscribe)).toBeUndefined()
        expect(paths.readUnsubscribe(bounce.replace("bounce-", "unsubscribe-"))).toBeUndefined()
        expect(paths.read(unsubscribe.replace("unsubscribe-", "bounce-"))).toBeUndefined()
      }),
    )
  })
})
