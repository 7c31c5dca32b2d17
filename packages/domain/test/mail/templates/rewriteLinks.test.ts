import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { TRACKING_PATHS } from "../../../src/hits/TrackingLinks.ts"
import { rewriteLinks } from "../../../src/mail/templates/rewriteLinks.ts"
import { BASE, testLinks, to } from "../testLinks.ts"

const links = testLinks()
const PIXEL = `<img src="${links.open(to)}" width="1" height="1" alt="" style="display:block;border:0">`
const rewrite = (html: string) => rewriteLinks(html, to, links)
const TRACKED = new RegExp(`href="${BASE}${TRACKING_PATHS.click}[^"]+"`)
/** A written attribute, with whitespace on both sides of the sign. */
const ATTRIBUTE = `[Hh][Rr][Ee][Ff][\\t\\n\\f\\r ]*=[\\t\\n\\f\\r ]*(?:"[^"]*"|'[^']*'|[^\\t\\n\\f\\r >]+)`
const tracked = (destination: string) => `href="${links.click(to, destination)}"`

describe("rewriteLinks", () => {
  it.each([
    ["a link", '<a href="https://x.test/">x</a>', `<a ${tracked("https://x.test/")}>x</a>`],
    ["plain http", '<a href="http://x.test/">x</a>', `<a ${tracked("http://x.test/")}>x</a>`],
    ["an area of a map", '<area href="https://x.test/" alt="x">', `<area ${tracked("https://x.test/")} alt="x">`],
    ["single quotes", "<a href='https://x.test/'>x</a>", `<a ${tracked("https://x.test/")}>x</a>`],
    ["no quotes", "<a href=https://x.test/ id=y>x</a>", `<a ${tracked("https://x.test/")} id=y>x</a>`],
    ["capitals", '<A HREF = "HTTPS://X.test/">x</A>', `<A ${tracked("https://x.test/")}>x</A>`],
    ["entities", '<a href="https://x.test/?a=1&amp;b=2">x</a>', `<a ${tracked("https://x.test/?a=1&b=2")}>x</a>`],
    ["a bare ampersand", '<a href="https://x.test/?a&b">x</a>', `<a ${tracked("https://x.test/?a&b")}>x</a>`],
    ["a line feed before its value", "<a href=\nhttps://x.test/>x</a>", `<a ${tracked("https://x.test/")}>x</a>`],
    ["spaces around it", '<a href=" https://x.test/\n">x</a>', `<a ${tracked("https://x.test/")}>x</a>`],
    ["letters beyond ASCII", '<a href="https://x.test/é">x</a>', `<a ${tracked("https://x.test/%C3%A9")}>x</a>`],
    [
      "the first of two",
      '<a href="https://x.test/" href="https://y.test/">x</a>',
      `<a ${tracked("https://x.test/")} href="https://y.test/">x</a>`,
    ],
    [
      "an element that is closed out of turn",
      '<p><a href="https://x.test/">x<p>y</a>z</p>',
      `<p><a ${tracked("https://x.test/")}>x<p>y</a>z</p>`,
    ],
    [
      "a link that a table pushes out",
      '<table><a href="https://x.test/">x</a><tr><td><a href="https://y.test/">y</a></table>',
      `<table><a ${tracked("https://x.test/")}>x</a><tr><td><a ${tracked("https://y.test/")}>y</a></table>`,
    ],
  ])("tracks %s", (_, html, expected) => {
    expect(rewrite(html)).toBe(expected + PIXEL)
  })

  it.each([
    ["mailto:", '<a href="mailto:a@x.test">x</a>'],
    ["tel:", '<a href="tel:+15550100">x</a>'],
    ["an anchor", '<a href="#below">x</a>'],
    ["a relative address", '<a href="/path">x</a>'],
    ["a script", '<a href="javascript:alert(1)">x</a>'],
    ["an anchor's name", '<a name="https://x.test/">x</a>'],
    ["an image", '<img src="https://x.test/a.png">'],
    ["a stylesheet", '<link href="https://x.test/a.css" rel="stylesheet">'],
    ["text", "<p>https://x.test/</p>"],
    ["a comment", '<!-- <a href="https://x.test/">x</a> -->'],
    ["a title", '<title><a href="https://x.test/"></title>'],
    ["what only Outlook reads", '<!--[if mso]><v:roundrect href="https://x.test/"></v:roundrect><![endif]-->'],
    ["another attribute", '<p data-href="https://x.test/" href="https://x.test/">x</p>'],
    ["an address longer than a link takes", `<a href="https://x.test/${"a".repeat(2048)}">x</a>`],
    ["the recipient's own unsubscription", `<a href="${links.unsubscribe(to)}">x</a>`],
    ["nothing at all", ""],
  ])("leaves %s", (_, html) => {
    expect(rewrite(html)).toBe(html + PIXEL)
  })

  it("puts the pixel before the end of the body, even if links follow", () => {
    const page = (inside: string) => `<!doctype html>\r\n<html><BODY>hello${inside}</BODY >\r\n</html>\r\n`
    expect(rewrite(page(""))).toBe(page(PIXEL))
    expect(rewrite('<body>a</body><a href="https://x.test/">x</a>')).toBe(
      `<body>a${PIXEL}</body><a ${tracked("https://x.test/")}>x</a>`,
    )
  })

  it("changes no other character of any markup", () => {
    const piece = fc.oneof(
      fc.constantFrom(
        ...["<a href=", '"', "'", ">", "</a>", "https://x.test/", "<!--", "-->", "<table>", "<tr>", "</table>"],
        ...["&amp;", "&#x26"],
        ...["\r\n", "\r", "\n", "\0", "\uFEFF", "😀", "\uD800", "<b", "</body>", "<body>", "</html>", "<script>"],
        "</script>",
        ...["<svg>", "<template>", "</template>", "<textarea>", "<![CDATA[", '<a href="https://x.test/">', "<p>"],
        ...["</p>", " "],
      ),
      fc.string(),
    )
    const pieces = fc.array(piece, { maxLength: 30 }).map((all) => all.join(""))
    // The text between tracked links is unchanged and in order, and each link replaces one attribute.
    const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    const originalOf = (rewritten: string) => new RegExp(`^${rewritten.split(TRACKED).map(escaped).join(ATTRIBUTE)}$`)
    fc.assert(
      fc.property(pieces, (html) => {
        const rewritten = rewrite(html)
        expect(rewritten.split(PIXEL)).toHaveLength(2)
        expect(html).toMatch(originalOf(rewritten.replace(PIXEL, "")))
      }),
    )
  })

  it("rewrites a link that is nested a hundred thousand levels deep", () => {
    const html = `${"<div>".repeat(100_000)}<a href="https://x.test/">x</a>`
    expect(rewrite(html)).toBe(`${"<div>".repeat(100_000)}<a ${tracked("https://x.test/")}>x</a>${PIXEL}`)
  })
})
