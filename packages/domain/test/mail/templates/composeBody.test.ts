import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { renderFault } from "../../../src/mail/templates/createFieldsCheck.ts"
import { to } from "../testLinks.ts"
import { compose, composesAlike, links } from "./composesAlike.ts"

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
  ])("leaves a link with `data-no-track` as it is, without that attribute, composed %s", (_, way) => {
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

  it.each(["\uE000", "&#xE000;", "&#XE000", "&#57344;", "&#057344"])(
    "takes a character for private use for what it is: %s",
    (it) => {
      const { html, text } = compose(`<p><a href="https://x.test/${it}">x</a> ${it} {{ token }}</p>`)
      expect(html).toContain(`href="${links.click(to, "https://x.test/\uE000")}"`)
      expect(html).toContain(` ${it} aB3dE9</p>`)
      expect(text).toContain("\uE000 aB3dE9")
    },
  )

  it("escapes a field in the HTML, and shows it as it is in the text", () => {
    const { html, text } = compose(`<p>Dear {{ first_name | default: "colleague" }},</p>`, {
      first_name: "<b>Ann</b> & Co",
    })
    expect(html).toContain("<p>Dear &lt;b&gt;Ann&lt;/b&gt; &amp; Co,</p>")
    expect(text).toBe("Dear <b>Ann</b> & Co,")
    expect(compose(`<p>Dear {{ first_name | default: "colleague" }},</p>`).text).toBe("Dear colleague,")
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

  it("composes thousands of links", () => {
    const html = `<a href="https://x.test/{{ token }}">x</a>`.repeat(7000)
    expect(compose(html).html.match(/\/l\//g)).toHaveLength(7000)
  })

  it("leaves no trace of the pixel in the text", () => {
    const html = '<ol start="{{ campaign_name }}"><li>x<li></li>'
    expect(compose(html).text).toBe(compose(`{% comment %}{% endcomment %}${html}`).text)
  })

  it("comes to the same for all recipients at once as for each by itself", () => {
    fc.assert(composesAlike)
  })
})
