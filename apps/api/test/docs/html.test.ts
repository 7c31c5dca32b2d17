import { html, prose } from "@outreach/process/html"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { shownOf } from "./samplesOf.ts"

describe("markup", () => {
  it("shows every text that is put in as it is, and takes none for markup", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."<>&\"'`$\\ab0;#/") }), (text) => {
        const { markup } = html`${text}`
        expect(markup).not.toMatch(/[<>"']|&(?!#\d+;)/)
        expect(shownOf(markup)).toBe(text)
      }),
    )
  })

  it("keeps markup that is put into markup, and lists of it", () => {
    expect(html`<ul>${[1, "<2>"].map((item) => html`<li>${item}</li>`)}</ul>`.markup).toBe(
      "<ul><li>1</li><li>&#60;2&#62;</li></ul>",
    )
  })

  it("shows text in backticks as code, escaped like all other text", () => {
    expect(html`${prose("id is not the `cmp_<hex>` form")}`.markup).toBe(
      "id is not the <code>cmp_&#60;hex&#62;</code> form",
    )
  })
})
