import fc from "fast-check"
import { expect } from "vitest"
import { composeBody } from "../../../src/mail/templates/composeBody.ts"
import type { RecipientFields } from "../../../src/recipients/RecipientFields.ts"
import { testLinks, to } from "../testLinks.ts"

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
export const compose = (html: string, fields: RecipientFields = {}) =>
  composeBody(
    {
      subject: "",
      html,
      text: null,
      campaignName: variables.campaign_name,
      programName: variables.program_name,
      senderName: variables.sender_name,
      postalAddress: variables.postal_address,
      shortLink: "https://go.partner.test/{token}?a=1&b=%22",
      fields: ["first_name", "note"],
    },
    links,
  )(to, { ...fields, ...variables })
/** Text with a template tag is rendered for each recipient. */
const composeEach = (html: string, fields: RecipientFields = {}) =>
  compose(`{% comment %}{% endcomment %}${html}`, fields)

const name = fc.constantFrom(
  ...["{{ token }}", "{{campaign_name}}", "{{- program_name -}}", "{{ sender_name }}", "{{ postal_address }}"],
  ...["{{ unsubscribe_url }}", "{{ short_link }}", "{{ first_name }}", "{{note}}"],
  ...['{{ first_name | default: "you all" }}', "{{- note | url_encode -}}", "{{ note | default: token | upcase }}"],
)
const text = fc.constantFrom(
  ...["a", " ", "\n", "&amp;", "&lt;b", "é", "😀", "&#8217;", "&#xE003;", "x.test", "https://y.test/"],
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
    fc.tuple(href, tie("body")).map(([to, body]) => `<a data-no-track href="${to}">${body}</a>`),
    tie("body").map((body) => `<!-- ${body} -->`),
    fc.tuple(fc.constantFrom("<", "</", "<?", "<!"), name).map(([start, name]) => `${start}${name}>`),
    fc
      .tuple(name, tie("body"))
      .map(([name, body]) => `<a title=${name} ${name} class="${name}" HREF='${name}'>${body}</a>`),
    fc
      .tuple(name, fc.constantFrom("ol", "li", "td"))
      .map(([name, tag]) => `<${tag} start="${name}" colspan="${name}"><li>x`),
    fc.tuple(fc.constantFrom("&", "&am", "&#6"), name).map(([start, name]) => start + name),
    fc.constantFrom("<br>", "<p>", "</a>", '<img src="{{ token }}.png" alt="x">', "<title>{{ token }}</title>"),
  ),
}))

const value = fc.oneof(
  fc.constantFrom(
    ...["Ann", "Ann Lee", " Ann  Lee", "a\nb", "O'Neil & Sons", "<b>", "&amp;", "amp;", "7", "\u00A0", "\u200B"],
    "\uE010",
  ),
  fc.constantFrom(
    "https://y.test/?a=1",
    "x href=https://y.test y",
    '"><a href="https://y.test">',
    "//y.test",
    "{{ token }}",
  ),
  fc.string({ unit: "grapheme", maxLength: 8 }),
)
const fields = fc.record({ first_name: value, note: value }, { requiredKeys: ["note"] })

/** Returns the body, or the error message. */
const outcomeOf = (compose: () => object): object | string => {
  try {
    return compose()
  } catch (error) {
    return (error as Error).message.replace(/, line:.*/s, "")
  }
}

/** The body composed once for all recipients equals the body composed for each, for any HTML and fields. */
export const composesAlike = fc.property(body, fields, (html, fields) => {
  expect(outcomeOf(() => compose(html, fields))).toEqual(outcomeOf(() => composeEach(html, fields)))
})
