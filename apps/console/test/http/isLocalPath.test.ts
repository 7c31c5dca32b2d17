import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isLocalPath } from "../../src/http/rejectAmbiguousRequests.ts"

const ORIGIN = "https://console.acme.example"

const DELIMITERS = [..."/\\@:?#.\t\n\r \u00a0", "//", "/\\", "..", "%2f", "%5c"]
const NAMES = ["evil.example", "https:", "javascript:", "campaigns", "\u3002", "\uff0f", "\ud83d"]

/** Texts of delimiters that decide the origin of a URL, names, and other characters. */
const address = fc
  .array(
    fc.oneof(fc.constantFrom(...DELIMITERS), fc.constantFrom(...NAMES), fc.string({ unit: "binary", maxLength: 3 })),
    {
      maxLength: 8,
    },
  )
  .map((parts) => parts.join(""))

describe("a local path", () => {
  it("has the console's origin in every browser's reading", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          address,
          fc.tuple(fc.constantFrom("/", "//", "/\\", "/\t/"), address).map((each) => each.join("")),
        ),
        (text) => {
          fc.pre(isLocalPath(text))
          expect(new URL(text, ORIGIN).origin).toBe(ORIGIN)
        },
      ),
    )
  })

  it("is any path and query of a URL with one leading slash as browsers send it", () => {
    fc.assert(
      fc.property(address, (text) => {
        const url = URL.parse(`/${text}`, ORIGIN)
        fc.pre(url !== null && url.origin === ORIGIN && !url.pathname.startsWith("//"))
        expect(isLocalPath(`${url!.pathname}${url!.search}`)).toBe(true)
      }),
    )
  })

  it.each(["", "campaigns", "//evil.example/x", "/\\evil.example/x", "/\t/evil.example", "/a b", "/é"])(
    "is not %j",
    (text) => expect(isLocalPath(text)).toBe(false),
  )

  it.each(["/", "/campaigns", "/find?search=a\\b", "/inbox/a//b?x=//y"])("is %j", (text) =>
    expect(isLocalPath(text)).toBe(true),
  )
})
