import { type Html, html, type Part } from "@outreach/process/html"
import { Struct } from "effect"
import MiniSearch from "minisearch"
import { CODE_BLOCK } from "./codeBlock.ts"
/** Words of the guides, each with the terms that partners search for instead. */
import synonyms from "./synonyms.json" with { type: "json" }

export const MAX_QUERY_LENGTH = 100
const MAX_HITS = 12
const WHOLE = { prefix: false, fuzzy: false } as const
const STOP_WORD =
  /^(an?|and|are|at|be|by|can|do|does|for|from|how|i|in|is|it|my|of|on|or|the|to|we|when|with|you|your)$/i

/** Creates the search of pages in Markdown. It returns the hits of a query, or the reason for their absence. */
export const createSearch = (pages: ReadonlyArray<readonly [path: string, markdown: string]>) => {
  const sections = new Map(pages.flatMap(sectionsOf).map((section) => [section.id, section]))
  const index = new MiniSearch({
    fields: ["title", "id", "place", "names", "tabs", "text"],
    // Names of fields are found as a whole, other identifiers also by their parts.
    tokenize: (text, field) =>
      (text.match(/[\p{L}\p{N}_]+/gu) ?? []).flatMap((word) => [
        ...new Set([word, ...(field === "names" ? [] : word.split("_"))]),
      ]),
    processTerm: (term) => !STOP_WORD.test(term) && term.toLowerCase().replace(/(?<=..[^su])s$/, ""),
    searchOptions: {
      boost: { title: 4, names: 5, tabs: 2 },
      // Introductions describe a whole page. Changes and drafts are rarely the best hit.
      boostDocument: (id) => (/^changelog#|#legacy/.test(id) ? 0.75 : id.includes("#") ? 1 : 1.5),
      prefix: (term) => term.length > 2,
      // Words of the guides aren't typing errors.
      fuzzy: (term): number | false => term.length > 3 && index.search(term, WHOLE).length === 0 && 0.2,
      maxFuzzy: 2,
    },
  })
  index.addAll([...sections.values()])

  return (query: string): Html => {
    if (query.trim() === "") return html`<p>Search for words, an error code or a field.</p>`
    if (query.length > MAX_QUERY_LENGTH) return html`<p>A search has at most ${MAX_QUERY_LENGTH} characters.</p>`
    const words = synonymsIn(query)
    // The guides contain other words than this query, so similar words aren't meant.
    const options = words.length > 0 ? { fuzzy: false } : {}
    const hits = index.search({ queries: [query, ...words] }, options).slice(0, MAX_HITS)
    if (hits.length === 0)
      return html`<p>No section contains “${query}”. Search for other words, or look at the <a href="errors#codes">error codes</a> and <a href="reference#endpoints">endpoints</a>.</p>`
    return html`<ol>
${hits.map(({ id, terms }) => {
  const { place, title, text } = sections.get(id)!
  return html`<li><a href="${id}">${[...place, title].join(" › ")}</a><br>${excerpt(text, terms)}</li>\n`
})}</ol>`
  }
}

const synonymsIn = (query: string): ReadonlyArray<keyof typeof synonyms> => {
  const text = ` ${query.toLowerCase().replaceAll(/[\s-]+/g, " ")} `
  return Struct.keys(synonyms).filter((words) => synonyms[words].some((term) => text.includes(` ${term} `)))
}

const SECTION = /^(#{1,3}) (.*?)(?: \{(#.*)\})?\n((?:(?!#{1,3} ).*\n)*)/gm
const MARKUP = /\[(.*?)\]\(.*?\)|`|\*\*|[|]|---|^(?:#+|-) /gm
/** Title of a tab, as Markdown. */
const TAB = /^\*\*(.*)\*\*$/gm

/** Returns the sections of a page: address relative to /docs/, titles of the page and the part around it, title, described fields and statuses, titles of tabs, and text without code. */
const sectionsOf = ([path, markdown]: readonly [path: string, markdown: string]) => {
  const titles: Array<string> = []
  return Array.from(markdown.replaceAll(CODE_BLOCK, "").matchAll(SECTION), ([, level, title, id = "", body]) => {
    titles.splice(level!.length - 1, 3, title!.replaceAll("`", ""))
    const tabs = Array.from(body!.matchAll(TAB), ([, tab]) => tab)
    const text = body!.replaceAll(TAB, "").replaceAll(MARKUP, "$1").replaceAll(/\s+/g, " ").trim()
    const names = Array.from(
      body!.matchAll(/^- (?:`(.*?)`:|\*\*Status\*\*: (.*))/gm),
      ([, name, status]) => name ?? status,
    )
    const address = (path === "/docs" ? "../docs" : path.slice("/docs/".length)) + id
    return { id: address, place: titles.slice(0, -1), title: titles.at(-1)!, names, tabs, text }
  })
}

/** Returns up to 220 characters of a text around the first of some terms, and marks the terms. */
const excerpt = (text: string, terms: ReadonlyArray<string>): Part => {
  const longestFirst = terms.toSorted((a, b) => b.length - a.length).join("|")
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_])((?:${longestFirst})s?)(?![\\p{L}\\p{N}_])`, "giu")
  const start = text.lastIndexOf(" ", Math.max(0, text.search(pattern) - 70)) + 1
  const [shown] = /^.{0,220}(?!\S)/.exec(text.slice(start)) ?? [""]
  const pieces = shown.split(pattern).map((piece, i) => (i % 2 === 1 ? html`<mark>${piece}</mark>` : piece))
  return [start > 0 ? "… " : "", pieces, start + shown.length < text.length ? " …" : ""]
}
