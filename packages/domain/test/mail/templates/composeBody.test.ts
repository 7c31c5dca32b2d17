import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { TRACKING_PATHS } from "../../../src/hits/TrackingLinks.ts"
import { renderFault } from "../../../src/mail/templates/Template.ts"
import { BASE, to } from "../testLinks.ts"
import { compose, links, variables } from "./compose.ts"

const PIXEL = `<img src="${links.open(to)}" width="1" height="1" alt="" style="display:block;border:0">`
const tracked = (destination: string) => `href="${links.click(to, destination)}"`

describe("the HTML of composeBody", () => {
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
    ["a value", '<a href="{{ short_link }}">x</a>', `<a ${tracked(variables.short_link)}>x</a>`],
    ["a value without quotes", "<a href={{ short_link }}>x</a>", `<a ${tracked(variables.short_link)}>x</a>`],
    [
      "an output with quotes and brackets",
      `<a href="https://x.test/{{ token | append: "?\\"a>b" }}">x</a>`,
      `<a ${tracked('https://x.test/aB3dE9?"a>b')}>x</a>`,
    ],
    [
      "a variable of the template, in a tag's branch",
      `{% assign to = "https://x.test/" | append: token %}<a {% if to %}href="{{ to }}"{% else %}href="#"{% endif %}>x</a>`,
      `<a ${tracked("https://x.test/aB3dE9")}>x</a>`,
    ],
  ])("tracks %s", (_, html, expected) => {
    expect(compose(html).html).toBe(expected + PIXEL)
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
    ["private-use characters", "<p>\uE000 \uE0000\uE001 &#xE000;</p>"],
    ["nothing at all", ""],
  ])("leaves %s", (_, html) => {
    expect(compose(html).html).toBe(html + PIXEL)
  })

  it("has the pixel before the end of the body, even if links follow", () => {
    const page = (inside: string) => `<!doctype html>\r\n<html><BODY>hello${inside}</BODY >\r\n</html>\r\n`
    expect(compose(page("")).html).toBe(page(PIXEL))
    expect(compose(`{% assign to = token %}${page("")}`).html).toBe(page(PIXEL))
    expect(compose('<body>a</body><a href="https://x.test/">x</a>').html).toBe(
      `<body>a${PIXEL}</body><a ${tracked("https://x.test/")}>x</a>`,
    )
  })

  it("changes no other character of any markup", () => {
    const TRACKED = new RegExp(`href="${BASE}${TRACKING_PATHS.click}[^"]+"`)
    /** A written attribute, with whitespace on both sides of the sign. */
    const ATTRIBUTE = `[Hh][Rr][Ee][Ff][\\t\\n\\f\\r ]*=[\\t\\n\\f\\r ]*(?:"[^"]*"|'[^']*'|[^\\t\\n\\f\\r >]+)`
    const piece = fc.oneof(
      fc.constantFrom(
        ...["<a href=", '"', "'", ">", "</a>", "https://x.test/", "<!--", "-->", "<table>", "<tr>", "</table>"],
        ...["&amp;", "&#x26", "\r\n", "\r", "\n", "\uFEFF", "😀", "\uD800", "<b", "</body>", "<body>", "</html>"],
        ...["<script>", "</script>", "<svg>", "<template>", "</template>", "<textarea>", "<![CDATA[", "<p>", "</p>"],
        ...['<a href="https://x.test/">', " "],
      ),
      fc.string().map((text) => text.replaceAll(/[{\0]/g, "")),
    )
    const pieces = fc.array(piece, { maxLength: 30 }).map((all) => all.join(""))
    // The text between tracked links is unchanged and in order, and each link replaces one attribute.
    const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")
    const originalOf = (rewritten: string) => new RegExp(`^${rewritten.split(TRACKED).map(escaped).join(ATTRIBUTE)}$`)
    fc.assert(
      fc.property(pieces, (template) => {
        const { html } = compose(template)
        expect(html.split(PIXEL)).toHaveLength(2)
        expect(template).toMatch(originalOf(html.replace(PIXEL, "")))
      }),
    )
  })

  it("tracks thousands of links", () => {
    const html = `<a href="https://x.test/{{ token }}">x</a>`.repeat(7000)
    expect(compose(html).html.match(/\/l\//g)).toHaveLength(7000)
  })
})

describe("composeBody", () => {
  it("tracks the destination of a link with variables, in HTML and text", () => {
    const { html, text } = compose(`<p><a href="https://x.test/{{ token }}">Take part</a>, {{ token }}</p>`)
    const tracked = links.click(to, "https://x.test/aB3dE9")
    expect(html).toContain(`<p><a href="${tracked}">Take part</a>, aB3dE9</p>`)
    expect(text).toBe(`Take part [${tracked}], aB3dE9`)
  })

  it.each([
    ["at once", ""],
    ["for each recipient", "{% comment %}{% endcomment %}"],
  ])("leaves a link with `data-no-track` as it is, without that attribute, in a text converted %s", (_, way) => {
    const { html, text } = compose(
      `${way}<a class="c" data-no-track href="https://x.test/{{ token }}">a</a><a href='https://y.test/?a=1&amp;b' DATA-NO-TRACK="">b</a>`,
    )
    expect(html).toMatch(
      /^<a class="c" +href="https:\/\/x.test\/aB3dE9">a<\/a><a href='https:\/\/y.test\/\?a=1&amp;b' *>b<\/a><img/,
    )
    expect(text).toBe("a [https://x.test/aB3dE9]b [https://y.test/?a=1&b]")
  })

  it("keeps a token as it is where headings are set in capitals elsewhere", () => {
    expect(compose("<h1>Your code {{ token }}</h1>").text).toBe("Your code aB3dE9")
  })

  it("escapes a field in the HTML, and shows it as it is in the text", () => {
    const { html, text } = compose(`<p>Dear {{ first_name | default: "colleague" }},</p>`, {
      first_name: "<b>Ann</b> & Co",
    })
    expect(html).toContain("<p>Dear &lt;b&gt;Ann&lt;/b&gt; &amp; Co,</p>")
    expect(text).toBe("Dear <b>Ann</b> & Co,")
    expect(compose(`<p>Dear {{ first_name | default: "colleague" }},</p>`).text).toBe("Dear colleague,")
  })

  it("reads characters written as references as text, not as code", () => {
    expect(compose("&#123;&#123; token }} &#123;% if %} &#123;{{ token }}").text).toBe("{{ token }} {% if %} {aB3dE9")
    const tracked = links.click(to, "https://x.test/?{{aB3dE9")
    expect(compose('<a href="https://x.test/?&#123;&#123;{{ token }}">x</a>').text).toBe(`x [${tracked}]`)
  })

  it("throws for a field that is missing, and composes the next", () => {
    const composed = ["Ann", undefined, "Lee"].map((first_name) => {
      try {
        return compose("<p>Dear {{ first_name }}</p>", first_name === undefined ? {} : { first_name }).text
      } catch (error) {
        return renderFault(error)
      }
    })
    expect(composed).toEqual(["Dear Ann", "needs first_name, which is missing", "Dear Lee"])
  })

  it("leaves no trace of the pixel in the text", () => {
    const html = '<ol start="4"><li>x<li></li>'
    expect(compose(html).text).toBe(compose(`{% comment %}{% endcomment %}${html}`).text)
  })

  it("converts a template to the text of each recipient's HTML", () => {
    const output = fc.constantFrom(
      ...["{{ token }}", "{{campaign_name}}", "{{ program_name }}", "{{ short_link }}", "{{ unsubscribe_url }}"],
      ...["{{ note }}", '{{ first_name | default: "you all" }}', "{{ note | url_encode }}"],
    )
    const text = fc.constantFrom("a", " ", "\n", "&amp;", "&lt;b", "é", "😀", "&#8217;", "x.test", "https://y.test/")
    const href = fc
      .tuple(fc.constantFrom("https://x.test/", "HTTP://x.test?q=", "mailto:a@x.test?s=", "#", "/p/", "tel:+1"), output)
      .map((parts) => parts.join(""))
    const { body } = fc.letrec<{ body: string; node: string }>((tie) => ({
      body: fc.array(tie("node"), { maxLength: 5 }).map((nodes) => nodes.join("")),
      node: fc.oneof(
        { depthSize: "small" },
        output,
        text,
        fc.tuple(href, tie("body")).map(([to, body]) => `<a href="${to}" class='c'>${body}</a>`),
        fc.tuple(href, tie("body")).map(([to, body]) => `<a data-no-track href="${to}">${body}</a>`),
        fc
          .tuple(fc.constantFrom("p", "div", "h1", "ul", "li", "table", "td", "b", "pre", "body"), tie("body"))
          .map(([tag, body]) => `<${tag}>${body}</${tag}>`),
        tie("body").map((body) => `<!-- ${body} -->`),
        fc.constantFrom("<br>", "<p>", "</a>", '<img src="{{ token }}.png" alt="x">', "<title>{{ token }}</title>"),
      ),
    }))
    fc.assert(
      fc.property(body, (html) => {
        const each = compose(`{% comment %}{% endcomment %}${html}`, { note: "O'Neil&Sons" })
        expect(compose(html, { note: "O'Neil&Sons" })).toEqual(each)
      }),
    )
  })
})
