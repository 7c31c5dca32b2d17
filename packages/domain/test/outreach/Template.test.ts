import { describe, expect, it } from "vitest"
import { checkTemplate, renderTemplate } from "../../src/outreach/Template.ts"

const variables = { token: "aB3dE9", campaign_name: "Spring", program_name: "Heart failure" }

describe("checkTemplate", () => {
  it("accepts text without variables, and every variable there is", () => {
    expect(checkTemplate("Good morning")).toBeUndefined()
    expect(checkTemplate("{{ token }} {{ campaign_name }} {{ program_name }}")).toBeUndefined()
  })

  it.each([
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
    expect(checkTemplate(text)).toEqual(expect.any(String))
  })
})

describe("renderTemplate", () => {
  it("puts the variables in their places", () => {
    expect(renderTemplate("{{ program_name }}: https://l.test/{{ token }}", variables)).toBe(
      "Heart failure: https://l.test/aB3dE9",
    )
  })

  it("takes no variable's text for a template", () => {
    expect(renderTemplate("{{ program_name }}", { ...variables, program_name: "{{ token }}" })).toBe("{{ token }}")
  })
})
