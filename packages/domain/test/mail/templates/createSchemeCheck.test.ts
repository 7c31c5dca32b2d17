import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createSchemeCheck } from "../../../src/mail/templates/createSchemeCheck.ts"
import { createFieldsCheck } from "../../../src/mail/templates/Template.ts"
import { compose } from "./compose.ts"

const PLACES = [
  '<a href="{{ note }}">x</a>',
  "<a href={{ note }}>x</a>",
  '<a data-no-track HREF=" {{ note | strip }}">x</a>',
  '<area href="{{ note }}">',
  '<a href="{% if note %}{{ note }}{% else %}https://x.test/{% endif %}">x</a>',
  '<a href="{% unless note %}https://x.test/{% else %}{{ note }}{% endunless %}">x</a>',
  '{% assign to = note %}<a href="{{ to }}">x</a>',
  '<img src="{{ note }}">',
  '<table background="{{ note }}"></table>',
  '<form action="{{ note }}"><button formaction="https://x.test/">x</button></form>',
  '<button formaction="{{ note }}">x</button>',
  '<img srcset="https://x.test/a.png 1x, {{ note }} 2x">',
  `<p style="background: url('{{ note }}')">x</p>`,
  "<style>p { background: url({{ note }}) }</style>",
  '<svg><a xlink:href="{{ note }}">x</a></svg>',
  '<meta http-equiv="refresh" content="0; url={{ note }}">',
  "<p>{{ token }}</p><object data='{{ note }}'></object>",
] as const

const place = fc.constantFrom(...PLACES)
const check = (html: string) =>
  createFieldsCheck({ subject: "x", preheader: null, html, text: null, shortLink: null, fields: ["note"] })

/** Writes a scheme in other forms that browsers accept: any case, leading spaces and control characters, tabs and line breaks. */
const written = (scheme: string) =>
  fc
    .tuple(
      fc.string({ unit: fc.constantFrom(" ", "\t", "\n", "\u0001", "\u001F"), maxLength: 3 }),
      fc.tuple(
        ...[...scheme].map((letter) => fc.constantFrom(letter, letter.toUpperCase(), `${letter}\n`, `\t${letter}`)),
      ),
    )
    .map(([before, letters]) => before + letters.join(""))

const FOREIGN = ["javascript", "data", "vbscript", "file", "blob", "x-evil", "tel"] as const

describe("an address with a scheme from a field", () => {
  it("is never rendered unless it is http, https or mailto, and the check of fields finds it first", () => {
    const value = fc
      .constantFrom(...FOREIGN)
      .chain(written)
      .map((scheme) => `${scheme}:alert(1)`)
    fc.assert(
      fc.property(place, value, (html, foreign) => {
        // A space ends an unquoted value.
        const note = html.includes("={{") ? foreign.replaceAll(/\s/g, "") : foreign
        expect(() => compose(html, { note })).toThrow("a link whose field is not an http, https or mailto address")
        expect(check(html)({ note })).toBe("the html has a link whose field is not an http, https or mailto address")
      }),
    )
  })

  it("is rendered if it is http, https, mailto or relative", () => {
    const value = fc.constantFrom(
      ...["https://x.test/a", "HTTP://x.test", "mailto:a@x.test", "//x.test/", "/path", "#a", "?a=b:c", "path"],
    )
    fc.assert(
      fc.property(place, value, (html, note) => {
        expect(() => compose(html, { note })).not.toThrow()
        expect(check(html)({ note })).toBeUndefined()
      }),
    )
  })

  it("is checked where the template writes a part of the scheme", () => {
    for (const [html, note] of [
      ['<a href="java{{ note }}">x</a>', "script:alert(1)"],
      ['<a href="{{ note }}:alert(1)">x</a>', "javascript"],
      ['<a href="{{ note }}{{ first_name }}">x</a>', "java"],
      ['<a href="{{ note }}&colon;alert(1)">x</a>', "javascript"],
    ] as const) {
      expect(() => compose(html, { note, first_name: "script:alert(1)" })).toThrow("http, https or mailto")
    }
  })

  it("doesn't restrict schemes that the template writes, or fields in other places", () => {
    for (const html of [
      '<a href="tel:{{ note }}">x</a><a href="{{ first_name }}">y</a>',
      '<img src="data:image/png;base64,AAAA"><a href="https://x.test/?q={{ note }}">x</a>',
      '<p title="{{ note }}">{{ note }}</p>',
    ]) {
      expect(() => compose(html, { note: "javascript:alert(1)", first_name: "https://y.test/" })).not.toThrow()
    }
  })
})

describe("createSchemeCheck", () => {
  it.each([
    "{{ unsubscribe_url }}",
    "{{unsubscribe_url}}",
    "{{- short_link -}}",
    "{{  token}}",
    "https://x.test/{{ note }}",
  ])("checks no message of a template whose addresses are ours, or written up to the value: %s", (address) => {
    expect(createSchemeCheck(`<p>{{ note }}</p><a href="${address}">x</a>`)).toBeUndefined()
  })

  it.each(["{{ note }}", "{{ unsubscribe_url | append: note }}", "{{ tokens }}", "{% if note %}{{ note }}{% endif %}"])(
    "checks each message of a template whose address is a value: %s",
    (address) => {
      expect(createSchemeCheck(`<a href="${address}">x</a>`)).toBeDefined()
    },
  )
})
