import fc from "fast-check"
import { expect } from "vitest"
import { composeBody } from "../../src/mail/composeBody.ts"
import { testLinks, to } from "./testLinks.ts"

export const links = testLinks()
export const variables = {
  token: "aB3dE9",
  campaign_name: "Spring & summer",
  program_name: "Heart <3",
  sender_name: "Acme & Sons",
  postal_address: "1 Main Street, Springfield, IL 62701",
  unsubscribe_url: links.unsubscribe(to),
  short_link: "https://go.partner.test/aB3dE9?a=1&b=%22",
}
export const compose = (html: string) =>
  composeBody(
    {
      subject: "",
      html,
      campaignName: variables.campaign_name,
      programName: variables.program_name,
      senderName: variables.sender_name,
      postalAddress: variables.postal_address,
      shortLink: "https://go.partner.test/{token}?a=1&b=%22",
      fields: [],
    },
    links,
  )(to, variables)
/** What has a tag is rendered for each recipient. */
const composeEach = (html: string) => compose(`{% comment %}{% endcomment %}${html}`)

const name = fc.constantFrom(
  "{{ token }}",
  "{{campaign_name}}",
  "{{- program_name -}}",
  "{{ sender_name }}",
  "{{ postal_address }}",
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
    fc.constantFrom("https://x.test/", "HTTP://x.test?q=", "https://", "mailto:a@x.test?s=", "#", "/p/", "tel:+1", ""),
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

/** The body that is composed once for all recipients equals the body that is composed for each, whatever the HTML. */
export const composesAlike = fc.property(body, (html) => {
  expect(compose(html)).toEqual(composeEach(html))
})
