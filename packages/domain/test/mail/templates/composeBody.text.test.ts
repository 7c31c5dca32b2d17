import { describe, expect, it } from "vitest"
import { composeBody } from "../../../src/mail/templates/composeBody.ts"
import { to } from "../testLinks.ts"
import { links, variables } from "./compose.ts"

const compose = (text: string, html = "") => composeBody({ preheader: null, html, text }, links)(to, variables).text
const tracked = links.click(to, "https://x.test/aB3dE9")

describe("the own text of a body", () => {
  it("escapes no text, and tracks links to pages except the unsubscription", () => {
    expect(
      compose("{{ program_name }} (https://x.test/{{ token }}).\nx.test mailto:a@x.test {{ unsubscribe_url }}."),
    ).toBe(`Heart <3 (${tracked}).\nx.test mailto:a@x.test ${variables.unsubscribe_url}.`)
  })

  it("leaves a link as it is where the HTML excludes the same address", () => {
    const html = `<a data-no-track href=" https://x.test/{{ token }}?a=1&amp;b ">Privacy</a><a href="https://x.test/{{ token }}">Go</a>`
    expect(compose("https://x.test/{{ token }} https://x.test/{{ token }}?a=1&b", html)).toBe(
      `${tracked} https://x.test/aB3dE9?a=1&b`,
    )
  })

  it("tracks a text link if the HTML excludes only incomplete addresses", () => {
    const html = `<a data-no-track href={{ token }}>a</a>{% if hospital %}<a data-no-track href="{{ hospital }}">b</a>{% endif %}`
    expect(compose("https://x.test/{{ token }}", html)).toBe(tracked)
  })
})
