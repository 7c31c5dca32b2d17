import { describe, expect, it } from "vitest"
import { keysOf, PAGES } from "../../src/docs/layout.ts"
import { renderedAssets } from "../../src/docs/renderedDocs.ts"

const { text } = renderedAssets.find(({ text }) => text.includes("const INDEX"))!
const { search } = (await import(`data:text/javascript,${encodeURIComponent(text)}`)) as {
  readonly search: (query: string) => ReadonlyArray<{ readonly href: string; readonly page: string }>
}
const first = (query: string) => search(query)[0]?.href

describe("the search of the pages", () => {
  it.each([
    ["verify signature", "/webhooks#verify"],
    ["checkpoint", "/pagination#checkpoints"],
    ["TOKEN_NOT_FOUND", "/errors#TOKEN_NOT_FOUND"],
    ["invalid_signature", "/errors#INVALID_SIGNATURE"],
    ["rate limit", "/errors#RATE_LIMITED"],
    ["rotat", "/webhooks#rotation"],
    ["get key", "#key"],
    ["digest", "/curl#getDigest"],
    ["outreach.email_clicked", "/webhooks#outreach.email_clicked"],
    ["python", "#packages"],
    ["curl", "/curl"],
    ["If-None-Match", "/curl#again"],
  ])("finds for %s first %s", (query, href) => {
    expect(first(query)).toBe(href)
  })

  it("finds what holds every term alone, in any case and order, ten at most", () => {
    expect(search("signature GO").map(({ href }) => href)).toContain("/webhooks#verify")
    expect(search("go  Signature ")).toEqual(search("signature go"))
    expect(search("signature xyzzy")).toEqual([])
    expect(search("the").length).toBe(10)
  })

  it("finds nothing for nothing, and takes signs as they are", () => {
    for (const query of ["", "  ", "[a-\\", "\u0000", "__proto__", "constructor toString"]) {
      expect(search(query), query).toEqual([])
    }
    expect(search("expand[]").map(({ href }) => href)).toContain("/reference#getToken")
  })

  it("knows every page", () => {
    const found = keysOf(PAGES).map((page) => search(PAGES[page].title).some((one) => one.page === PAGES[page].title))
    expect(found).toEqual(found.map(() => true))
  })
})
