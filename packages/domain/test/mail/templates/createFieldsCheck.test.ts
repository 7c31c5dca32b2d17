import { describe, expect, it } from "vitest"
import { compileTemplate, createFieldsCheck, renderFault } from "../../../src/mail/templates/Template.ts"
import { SAMPLE } from "../../../src/recipients/RecipientFields.ts"

const campaign = {
  subject: "For {{ first_name }}",
  preheader: null,
  html: "<p>Good morning</p>",
  text: null,
  shortLink: null,
  fields: ["first_name"],
}
const ada = { first_name: "Ada" }

describe("createFieldsCheck", () => {
  it("accepts a recipient who has all fields that the templates need", () => {
    expect(createFieldsCheck(campaign)(ada)).toBeUndefined()
    expect(createFieldsCheck({ ...campaign, shortLink: "https://x.test/{token}", html: "{{ short_link }}" })(ada)).toBe(
      undefined,
    )
  })

  it("names the field that a template needs, and the template", () => {
    expect(createFieldsCheck(campaign)({})).toBe("the subject needs first_name, which is missing")
    const html = `{% if specialty == "cardiology" %}{{ hospital }}{% endif %}`
    const check = createFieldsCheck({ ...campaign, html, fields: ["first_name", "specialty", "hospital"] })
    expect(check({ ...ada, specialty: "oncology" })).toBeUndefined()
    expect(check({ ...ada, specialty: "cardiology" })).toBe("the html needs hospital, which is missing")
    const text = "{{ hospital }}"
    expect(createFieldsCheck({ ...campaign, text })(ada)).toBe("the text needs hospital, which is missing")
  })

  it("accepts a missing field if the template handles that case", () => {
    const subject = `For {{ first_name | default: "you" }}`
    const html = "{% if specialty %}{{ specialty }}{% endif %}{% unless specialty %}all{% endunless %}"
    expect(createFieldsCheck({ ...campaign, subject, html, fields: ["first_name", "specialty"] })({})).toBeUndefined()
  })
})

it("renderFault repeats no value", () => {
  const faultOf = (html: string): string => {
    try {
      compileTemplate(html, "html")({ ...SAMPLE, ...ada })
    } catch (error) {
      return renderFault(error)
    }
    return "renders"
  }
  expect(faultOf("{{ token[first_name] }}")).toBe("needs token, which is missing")
  expect(faultOf("{{ last_name }}")).toBe("needs last_name, which is missing")
  expect(faultOf("{{ first_name | date: 1 | where: 2 }}")).not.toContain("Ada")
})
