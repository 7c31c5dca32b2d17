import { EVENTS, operations } from "@outreach/contract"
import { legacyCatalog, partnerCatalog } from "@outreach/contract/catalogs"
import { Struct } from "effect"
import { expect, it } from "vitest"
import { renderedPages } from "../../src/docs/renderedDocs.ts"
import { createSearch } from "../../src/docs/search.ts"
import synonyms from "../../src/docs/synonyms.json" with { type: "json" }

const search = createSearch(renderedPages.map(({ path, markdown }) => [path, markdown]))
const hitsOf = (query: string) =>
  Array.from(search(query).markup.matchAll(/<li><a href="(.*?)">/g), ([, address]) => address!)

it.each([
  ["dead letter", "webhooks#failed"],
  ["Dead-Letter queue", "webhooks#failed"],
  ["allowlist", "webhooks#firewall"],
  ["IP addresses", "webhooks#firewall"],
  ["webhok", "webhooks"],
  ["how do I rotate the secret", "webhooks#rotation"],
  ["duplicates", "webhooks#delivery"],
  ["api token", "../docs#key"],
  ["429", "errors#RATE_LIMITED"],
  ["500", "errors#INTERNAL_ERROR"],
  ["python", "curl"],
  ["NestJS", "webhooks#receive"],
  ["node", "webhooks#receive"],
  ["unsubscribe", "webhooks#to-you"],
  ["X-RateLimit-Reset", "reference#headers"],
  ["changelog", "changelog"],
])("finds %s first in %s", (query, address) => {
  expect(hitsOf(query)[0]).toBe(address)
})

it("finds each error code and operation first in its section, and each event type in its first two", () => {
  for (const code of Struct.keys(partnerCatalog.codes)) expect(hitsOf(code)[0]).toBe(`errors#${code}`)
  for (const code of Struct.keys(legacyCatalog.codes).filter((code) => !(code in partnerCatalog.codes))) {
    expect(hitsOf(code.toLowerCase())[0]).toBe(`errors#legacy-${code}`)
  }
  for (const id of Struct.keys(operations)) expect(hitsOf(id)[0]).toBe(`reference#${id}`)
  for (const type of Struct.keys(EVENTS)) expect(hitsOf(type).slice(0, 2)).toContain(`webhooks#${type}`)
})

it("finds each field in a section of the reference that describes it", () => {
  const reference = renderedPages.find(({ path }) => path === "/docs/reference")!.markdown
  const sections = Array.from(reference.matchAll(/^### .*\{(#\S+)\}\n((?:(?!### ).*\n)*)/gm), ([, id, body]) => ({
    address: `reference${id}`,
    names: Array.from(body!.matchAll(/^- `(?:\S+[.])?(\w+)`:/gm), ([, name]) => name!),
  }))
  const fields = new Set(sections.flatMap(({ names }) => names))
  expect(fields.size).toBeGreaterThan(50)
  for (const field of fields) {
    const hits = hitsOf(field)
    expect(
      hits.filter((hit) => sections.some((each) => each.address === hit && each.names.includes(field))),
    ).not.toEqual([])
  }
})

it("finds the section of the guides' words by each of their synonyms", () => {
  for (const [words, terms] of Object.entries(synonyms)) {
    for (const term of terms) expect(hitsOf(term), term).toContain(hitsOf(words)[0])
  }
})

it("marks the terms of an excerpt, and escapes the query and the texts of the guides", () => {
  expect(search("timeouts").markup).toContain("<mark>Timeouts</mark> of our calls")
  expect(search("<xqzj>").markup).toContain("No section contains “&#60;xqzj&#62;”")
  expect(createSearch([["/docs/a", "# A <b>\n\n<script>two</script>\n"]])("two").markup).toBe(
    '<ol>\n<li><a href="a">A &#60;b&#62;</a><br>&#60;script&#62;<mark>two</mark>&#60;/script&#62;</li>\n</ol>',
  )
})

it("suggests other words if there are no hits, and rejects a query of more than 100 characters", () => {
  expect(search("  ").markup).toContain("Search for words")
  expect(search("xqzj").markup).toMatch(/Search for other words.*errors#codes.*reference#endpoints/)
  expect(search("a".repeat(100)).markup).toContain("No section")
  expect(search("a".repeat(101)).markup).toContain("at most 100 characters")
})
