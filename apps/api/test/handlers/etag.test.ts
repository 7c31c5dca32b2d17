import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { matchesEtag } from "../../src/handlers/etag.ts"

const tag = '"YWJjZGVmZ2hpamtsbW5vcHFyc3R1"'
const opaque = tag.slice(1, -1)

describe("matchesEtag", () => {
  it.each([
    tag,
    `W/${tag}`,
    `"x", ${tag}`,
    `${tag},W/"y"`,
    `"x",,\t${tag}`,
    `"${opaque}-gzip"`,
    `W/"${opaque}--gzip"`,
    "*",
    `junk, ${tag}`,
  ])("matches %s", (header) => {
    expect(matchesEtag(header, tag)).toBe(true)
  })

  it.each([
    undefined,
    "",
    '""',
    opaque,
    `w/${tag}`,
    `"${opaque}`,
    `"${opaque}x"`,
    `"${opaque}-"`,
    `"${opaque}-identity"`,
    `"${opaque.toLowerCase()}"`,
    `junk ${tag}`,
    `*,"x"`,
  ])("does not match %s", (header) => {
    expect(matchesEtag(header, tag)).toBe(false)
  })

  it("accepts any header, and matches only one that contains the tag or is *", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (header) => {
        if (matchesEtag(header, tag)) expect(header.trim() === "*" || header.includes(opaque)).toBe(true)
      }),
    )
  })
})
