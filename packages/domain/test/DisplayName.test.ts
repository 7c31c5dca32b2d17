import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { DisplayName, parseInput } from "../src/textSchema.ts"

const parse = parseInput(DisplayName)
const MARKS = "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069"
const word = fc.string({ unit: "grapheme", maxLength: 20 }).filter((text) => !/\p{Cc}/u.test(text))

describe("DisplayName", () => {
  it.each(["Acme Health", " Zdravotnictví ", "قلب", "לב 2026", "心臓"])("takes %s", (name) => {
    expect(parse(name)).toMatchObject({ _tag: "Success", success: name.trim() })
  })

  it("rejects a writing direction mark at any position, and names the mark", () => {
    fc.assert(
      fc.property(word, fc.constantFrom(...MARKS), word, (before, mark, after) => {
        expect(parse(`a${before}${mark}${after}a`)).toMatchObject({
          _tag: "Failure",
          failure: { reason: expect.stringMatching(/direction mark \(U\+[\dA-F]{4}\)/) },
        })
      }),
    )
  })
})
