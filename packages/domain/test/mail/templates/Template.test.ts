import { describe, expect, it } from "vitest"
import { checkTemplate, compileTemplate, sampleFields } from "../../../src/mail/templates/Template.ts"
import type { TemplateVariables } from "../../../src/recipients/RecipientFields.ts"

const variables: TemplateVariables = {
  token: "aB3dE9",
  campaign_name: "Spring",
  program_name: "Heart failure",
  unsubscribe_url: "https://outreach.test/unsubscribe/u",
}

describe("checkTemplate", () => {
  it.each([
    '<a href="/offer">x</a>',
    '<a href="offer.html">x</a>',
    '<img src="logo.png">',
    '<a href="//acme.test">x</a>',
  ])("rejects the relative address in %s", (html) => {
    expect(checkTemplate(html, "html")).toMatch(/^it has the relative address ".+"/)
  })

  it.each([
    '<a href="https://acme.test/{{ token }}">x</a>',
    '<a href="#top">x</a>',
    '<a href="{{ unsubscribe_url }}">x</a>',
    '<a href="{{ site }}/x">x</a>',
  ])("accepts the address in %s", (html) => {
    expect(checkTemplate(html, "html", sampleFields(["site"]))).toBeUndefined()
  })

  it("accepts text without variables, and every variable there is", () => {
    expect(checkTemplate("Good morning", "html")).toBeUndefined()
    expect(
      checkTemplate("{{ token }} {{ campaign_name }} {{ program_name }} {{ unsubscribe_url }}", "html"),
    ).toBeUndefined()
  })

  it("accepts the partner's link where there is one", () => {
    expect(checkTemplate("{{ short_link }}", "html", { short_link: "https://go.test/aB3dE9" })).toBeUndefined()
  })

  it("accepts a field that is declared, also where a recipient may lack it", () => {
    const html = `{% if specialty %}{{ specialty }}{% endif %} {{ first_name | default: "colleague" | url_encode }}`
    expect(checkTemplate(html, "html", sampleFields(["first_name", "specialty"]))).toBeUndefined()
  })

  it("names a variable that is not declared, wherever the template has it", () => {
    for (const html of ["{{ frist_name }}", '{{ frist_name | default: "x" }}', "{% if frist_name %}x{% endif %}x"]) {
      expect(checkTemplate(html, "html", sampleFields(["first_name"]))).toBe(
        "it names frist_name, which is neither a variable of every template nor a declared field of recipients; correct the name, or declare the field",
      )
    }
  })

  it.each([
    ["what renders to nothing", "{% if false %}Good morning{% endif %}"],
    ["the partner's link where there is none", "{{ short_link }}"],
    ["a misspelt variable", "{{ tokn }}"],
    ["a recipient's address", "{{ email }}"],
    ["a variable that only one branch names", "{% if token %}{{ npi }}{% endif %}"],
    ["a filter that does not exist", "{{ token | shout }}"],
    ["an output that is not closed", "{{ token"],
    ["a tag that is not closed", "{% if token %}"],
    ["a tag that does not exist", "{% launch %}"],
    ["a file", "{% include 'secret' %}"],
    ["the prototype of a variable", "{{ token.constructor }}"],
    ["the prototype of the scope", "{{ constructor }}"],
    ["the prototype itself", "{{ __proto__ }}"],
  ])("refuses %s", (_, text) => {
    expect(checkTemplate(text, "html")).toEqual(expect.any(String))
  })
})

describe("compileTemplate", () => {
  it("puts the variables in their places", () => {
    expect(compileTemplate("{{ program_name }}: https://l.test/{{ token }}", "html")(variables)).toBe(
      "Heart failure: https://l.test/aB3dE9",
    )
  })

  it("takes no variable's text for a template", () => {
    const render = compileTemplate("{{ program_name }}", "html")
    expect(render({ ...variables, program_name: "{{ token }}" })).toBe("{{ token }}")
  })

  it("escapes variables in HTML, but not in a subject", () => {
    const named = { ...variables, program_name: "Heart & <lung>" }
    expect(compileTemplate("{{ program_name }}", "html")(named)).toBe("Heart &amp; &lt;lung&gt;")
    expect(compileTemplate("{{ program_name }}", "subject")(named)).toBe("Heart & <lung>")
  })
})
