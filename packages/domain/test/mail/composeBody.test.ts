import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { composeBody } from "../../src/mail/composeBody.ts"
import { testLinks, to } from "./testLinks.ts"

const links = testLinks()
const variables = {
  token: "aB3dE9",
  campaign_name: "Spring & summer",
  program_name: "Heart <3",
  unsubscribe_url: links.unsubscribe(to),
  short_link: "https://go.partner.test/aB3dE9?a=1&b=%22",
}
const compose = (html: string) =>
  composeBody(
    {
      subject: "",
      html,
      campaignName: variables.campaign_name,
      programName: variables.program_name,
      shortLink: "https://go.partner.test/{token}?a=1&b=%22",
    },
    links,
  )(to, variables)
/** What has a tag is rendered for each recipient. */
const composeEach = (html: string) => compose(`{% comment %}{% endcomment %}${html}`)

describe("composeBody", () => {
  it("tracks what a link's variables lead to, in the HTML and in the text", () => {
    const { html, text } = compose(`<p><a href="https://x.test/{{ token }}">Take part</a>, {{ token }}</p>`)
    const tracked = links.click(to, "https://x.test/aB3dE9")
    expect(html).toContain(`<p><a href="${tracked}">Take part</a>, aB3dE9</p>`)
    expect(text).toBe(`Take part [${tracked}], aB3dE9`)
  })

  it("leaves the recipient's unsubscription as it is, and what leads to no page", () => {
    const html = `<a href="{{ unsubscribe_url }}">a</a><a href="mailto:a@x.test?subject={{ token }}">b</a>`
    expect(compose(html).html).toContain(
      `<a href="${variables.unsubscribe_url}">a</a><a href="mailto:a@x.test?subject=aB3dE9">b</a>`,
    )
    expect(compose(html).text).toBe(`a [${variables.unsubscribe_url}]b [a@x.test?subject=aB3dE9]`)
  })

  it("keeps a token as it is where headings are set in capitals elsewhere", () => {
    expect(compose("<h1>Your code {{ token }}</h1>").text).toBe("Your code aB3dE9")
  })

  it.each(["\uE000", "&#xE000;", "&#XE000", "&#57344;", "&#057344"])(
    "takes a character for private use for what it is: %s",
    (it) => {
      const { html, text } = compose(`<p><a href="https://x.test/${it}">x</a> ${it} {{ token }}</p>`)
      expect(html).toContain(`href="${links.click(to, "https://x.test/\uE000")}"`)
      expect(html).toContain(` ${it} aB3dE9</p>`)
      expect(text).toContain("\uE000 aB3dE9")
    },
  )

  it.each([
    ["a condition", `{% if token contains "B" %}<p>b</p>{% else %}<p>c</p>{% endif %}`, "b"],
    ["a filter", "<p>{{ token | upcase }}</p>", "AB3DE9"],
  ])("renders %s for each recipient", (_, html, expected) => {
    expect(compose(html).text).toBe(expected)
  })

  it("composes thousands of links", () => {
    const html = `<a href="https://x.test/{{ token }}">x</a>`.repeat(7000)
    expect(compose(html).html.match(/\/l\//g)).toHaveLength(7000)
  })

  const name = fc.constantFrom(
    "{{ token }}",
    "{{campaign_name}}",
    "{{- program_name -}}",
    "{{ unsubscribe_url }}",
    "{{ short_link }}",
  )
  const text = fc.constantFrom(
    "a",
    " ",
    "\n",
    "&amp;",
    "&lt;b",
    "é",
    "😀",
    "&#8217;",
    "&#xE003;",
    "x.test",
    "https://y.test/",
  )
  const href = fc
    .tuple(
      fc.constantFrom(
        "https://x.test/",
        "HTTP://x.test?q=",
        "https://",
        "mailto:a@x.test?s=",
        "#",
        "/p/",
        "tel:+1",
        "",
      ),
      fc.array(fc.oneof(name, text), { maxLength: 2 }),
    )
    .map(([scheme, rest]) => scheme + rest.join(""))
  const { body } = fc.letrec<{ body: string; node: string }>((tie) => ({
    body: fc.array(tie("node"), { maxLength: 5 }).map((nodes) => nodes.join("")),
    node: fc.oneof(
      { depthSize: "small" },
      name,
      text,
      fc.tuple(href, tie("body")).map(([to, body]) => `<a href="${to}" class='c'>${body}</a>`),
      fc.tuple(href, tie("body")).map(([to, body]) => `<a href=${to.replaceAll(/\s/g, "")}>${body}</a>`),
      fc
        .tuple(fc.constantFrom("p", "div", "h1", "ul", "li", "table", "td", "b", "pre", "body"), tie("body"))
        .map(([tag, body]) => `<${tag}>${body}</${tag}>`),
      tie("body").map((body) => `<!-- ${body} -->`),
      fc.constantFrom("<br>", "<p>", "</a>", '<img src="{{ token }}.png" alt="x">', "<title>{{ token }}</title>"),
    ),
  }))

  it("comes to the same for all recipients at once as for each by itself", () => {
    fc.assert(
      fc.property(body, (html) => {
        expect(compose(html)).toEqual(composeEach(html))
      }),
      { numRuns: 2000 },
    )
  })
})
