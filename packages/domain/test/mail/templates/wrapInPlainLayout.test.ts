import { describe, expect, it } from "vitest"
import { findHiddenDetails } from "../../../src/mail/templates/findHiddenDetails.ts"
import { checkTemplate, compileTemplate } from "../../../src/mail/templates/Template.ts"
import { wrapInPlainLayout } from "../../../src/mail/templates/wrapInPlainLayout.ts"
import { SAMPLE } from "../../../src/recipients/RecipientFields.ts"

const variables = { ...SAMPLE, sender_name: "Acme & Sons", postal_address: "1 Main Street, Springfield, IL 62701" }
const details = {
  senderName: variables.sender_name,
  postalAddress: variables.postal_address,
  unsubscribeUrl: variables.unsubscribe_url,
}

describe("wrapInPlainLayout", () => {
  it("adds the required details to a fragment", () => {
    const wrapped = wrapInPlainLayout("<p>Dear colleague</p>\n{% if token %}<p>{{ token }}</p>{% endif %}")
    expect(checkTemplate(wrapped, "html", variables)).toBeUndefined()
    const html = compileTemplate(wrapped, "html")(variables)
    expect(html).toContain("<p>Dear colleague</p>\n<p>aB3dE9</p>")
    expect(findHiddenDetails(html, details)).toEqual([])
  })

  it.each([
    [
      "with all its tags",
      `<!doctype html><html><head><title>x</title><style>p{}</style></head><body class="c"><p>Hi</p></body></html>`,
    ],
    ["without any that may be left out", `<!doctype html><title>x</title><style>p{}</style><p>Hi</p>`],
    ["whose body is not closed", `<html><style>p{}</style><body><p>Hi</p></html>`],
  ])("takes the body and the styles of a document %s", (_, document) => {
    const wrapped = wrapInPlainLayout(document)
    expect(wrapped).toContain("\n<p>Hi</p>\n<p class=")
    expect(wrapped).toContain("\n<style>p{}</style>\n</head>")
    expect(wrapped.match(/<title>|<body|<html|<\/body>|<\/html>/g)).toHaveLength(5)
  })
})
