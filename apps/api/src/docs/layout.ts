import { Html, html } from "@outreach/process/html"
import { Struct } from "effect"
import { KEY_PLACEHOLDER } from "./requestSamples.ts"
import { MAX_QUERY_LENGTH } from "./search.ts"

const page = (name: string, description: string, title = name) => ({ name, title, description })

/** The pages under /docs in reading order: navigation label, description, and the title if it is another. */
export const PAGES = {
  start: page("Start", "Get a key and make the first request.", "Start here"),
  curl: page("Requests", "Send a request in seven languages, and repeat it safely."),
  pagination: page(
    "Pagination",
    "Read lists page by page, and reconcile without losing events.",
    "Pagination and checkpoints",
  ),
  webhooks: page("Webhooks", "Receive and verify signed events, and send your own."),
  errors: page("Errors", "Each error code, with its cause, retry rule and remedy."),
  sandbox: page("Sandbox", "Run the whole service on your machine, with simulated clinicians.", "The sandbox"),
  reference: page("Reference", "Endpoints, parameters, fields and responses."),
  changelog: page("Changelog", "Changes of the API and its packages, by version."),
}

/** Name of a page: its path below /docs, except for the first. */
export type Page = keyof typeof PAGES

export const pathOf = (page: Page): `/docs${string}` => (page === "start" ? "/docs" : `/docs/${page}`)

/** Wraps a page's content in the common layout. In the search page, `{{query}}` is the search. */
export const layout = (options: {
  readonly current: Page | "search"
  readonly style: string
  readonly script: string
  readonly icon: string
  readonly content: Html
}): Html => {
  const { current, style, script, icon, content } = options
  const { title, description } = current === "search" ? page("Search", "Search the guides.") : PAGES[current]
  // All links are relative, so that the pages also work below another path. The first page is /docs, the others are /docs/….
  const inDocs = current === "start" ? "docs/" : ""
  const href = (page: Page) => (page === "start" ? `${inDocs}../docs` : `${inDocs}${page}`)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Outreach Partner API</title>
<meta name="description" content="${description}">
${current === "search" ? "" : html`<link rel="alternate" type="text/markdown" href="${href(current)}.md">\n`}<link rel="icon" type="image/svg+xml" href="${inDocs}${icon}">
<link rel="stylesheet" href="${inDocs}${style}">
<script type="module" src="${inDocs}${script}"></script>
</head>
<body>
<a class="hidden" href="#content">Skip to the content</a>
<header>
<p><a href="${href("start")}">Outreach Partner API</a></p>
<form role="search" action="${inDocs}search"><input type="search" name="q" placeholder="Search" aria-label="Search" maxlength="${MAX_QUERY_LENGTH}" required${current === "search" ? html` value="{{query}}"` : ""}></form>
<nav aria-label="Documentation">
${Struct.keys(PAGES).map((page) => html`<a href="${href(page)}"${page === current ? html` aria-current="page"` : ""}>${PAGES[page].name}</a>\n`)}</nav>
<p class="hidden" role="status"></p>
</header>
<div class="columns">
${outline(content)}
<main id="content">
${content.markup.includes(KEY_PLACEHOLDER) ? keyInput : ""}${content}
${current === "search" ? "" : footer(current, href)}</main>
</div>
</body>
</html>
`
}

/** Input for the reader's key, which the script shows. It has no name and no form, so that it can't be sent. */
const keyInput = html`<p class="key" hidden><label>Your API key
<input placeholder="${KEY_PLACEHOLDER}" pattern="orp_(?:live|test)_[0-9A-Za-z_]{20,80}" title="orp_test_ or orp_live_, and at least 20 letters and digits" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<button type="button">Clear</button></p>
`

/** A heading of a part or of a section, with its anchor. */
const HEADING = /<h([23]) id="(.*?)">(?:<a .*?>)?(.*?)(?:<\/a>)?<\/h\1>/gs

/** Outline of a rendered page: links to its parts and their sections. */
const outline = ({ markup }: Html): Html => {
  const parts: Array<{ readonly link: Html; readonly sections: Array<Html> }> = []
  for (const [, level, id, title] of markup.matchAll(HEADING)) {
    const link = html`<a href="#${id!}">${new Html(title!.replaceAll(/<[^>]*>/g, ""))}</a>`
    if (level === "2") parts.push({ link, sections: [] })
    else parts.at(-1)?.sections.push(link)
  }
  const items = (links: ReadonlyArray<Html>) => links.map((link) => html`<li>${link}</li>\n`)
  if (parts.length === 0) return html`<div></div>`
  return html`<nav class="outline" aria-label="On this page">
<details>
<summary>On this page</summary>
<ul>
${parts.map(({ link, sections }) => html`<li>${link}${sections.length === 0 ? "" : html`\n<ul>${items(sections)}</ul>`}</li>\n`)}</ul>
</details>
</nav>`
}

/** Links to the next page in reading order, and to this page as Markdown. */
const footer = (current: Page, href: (page: Page) => string): Html => {
  const pages = Struct.keys(PAGES)
  const next = pages[pages.indexOf(current) + 1]
  return html`<footer>
${next === undefined ? "" : html`<p>Next: <a href="${href(next)}">${PAGES[next].title}</a>. ${PAGES[next].description}</p>\n`}<p><a href="${href(current)}.md">This page as Markdown</a></p>
</footer>
`
}
