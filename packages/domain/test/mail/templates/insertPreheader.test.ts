import { describe, expect, it } from "vitest"
import { composeBody } from "../../../src/mail/templates/composeBody.ts"
import { insertPreheader } from "../../../src/mail/templates/insertPreheader.ts"
import { compileTemplate } from "../../../src/mail/templates/Template.ts"
import { SAMPLE } from "../../../src/recipients/RecipientFields.ts"
import { to } from "../testLinks.ts"
import { links, variables } from "./compose.ts"

const PLACE = `<div data-preheader style="display:none;max-height:0;overflow:hidden;mso-hide:all">x</div>`

describe("insertPreheader", () => {
  it.each([
    ["a fragment", "^<p>Hi</p>"],
    ["a text", "^Hi"],
    ["an empty document", "<!doctype html>^"],
    [
      "a document",
      `<!doctype html><html><head><title>x</title></head><body class="c">^<p>Hi</p></body></html><!-- end -->`,
    ],
    ["a document without optional tags", "<title>x</title>^<p>Hi</p>"],
    ["tags before the document", "{% assign a = token %}\n<body>^{{ token }}</body>"],
    ["an output in the tag of the body", `<body title="{{ token }}">^Hi`],
  ])("inserts it at the start of the body of %s", (_, html) => {
    expect(insertPreheader(html.replace("^", ""), "x")).toBe(html.replace("^", PLACE))
  })

  it("escapes its text and its values", () => {
    const html = insertPreheader("<p>Hi</p>", `R&D <b> {{ token | append: "<i>" }}`)
    expect(compileTemplate(html, "html")(SAMPLE)).toContain(">R&amp;D &lt;b&gt; aB3dE9&lt;i&gt;</div><p>Hi</p>")
  })
})

it.each(["News", "News {% if token %}for you{% endif %}"])("is not part of the text: %s", (preheader) => {
  const mail = composeBody({ html: "<p>Hello</p>", text: null, preheader }, links)(to, variables)
  expect(mail.html).toContain("News")
  expect(mail.text).toBe("Hello")
})
