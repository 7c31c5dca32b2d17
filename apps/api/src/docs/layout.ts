import hljs from "highlight.js/lib/core"
import bash from "highlight.js/lib/languages/bash"
import csharp from "highlight.js/lib/languages/csharp"
import go from "highlight.js/lib/languages/go"
import java from "highlight.js/lib/languages/java"
import json from "highlight.js/lib/languages/json"
import php from "highlight.js/lib/languages/php"
import python from "highlight.js/lib/languages/python"
import ruby from "highlight.js/lib/languages/ruby"
import typescript from "highlight.js/lib/languages/typescript"
import { type Heading, headingsOf } from "./headingsOf.ts"
import { Html, html, type Part } from "./html.ts"

/** The pages under /docs in reading order: navigation label, title and description. */
export const PAGES = {
  start: {
    name: "Start",
    title: "Start here",
    description: "Get a key and make the first request.",
  },
  curl: {
    name: "Requests",
    title: "Requests with curl",
    description: "A command for each endpoint.",
  },
  pagination: {
    name: "Pagination",
    title: "Pagination and checkpoints",
    description: "Read lists page by page, and reconcile without losing events.",
  },
  webhooks: {
    name: "Webhooks",
    title: "Webhooks",
    description: "Receive and verify signed events, and send your own.",
  },
  errors: {
    name: "Errors",
    title: "Errors",
    description: "Each error code, with its cause, retry rule and remedy.",
  },
  sandbox: {
    name: "Sandbox",
    title: "The sandbox",
    description: "Run the whole service on your machine, with simulated clinicians.",
  },
  reference: {
    name: "Reference",
    title: "Reference",
    description: "Endpoints, parameters, fields and responses.",
  },
  changelog: {
    name: "Changelog",
    title: "Changelog",
    description: "Changes of the API and its packages, by version.",
  },
} as const

/** Name of a page: its path below /docs, except for the first. */
export type Page = keyof typeof PAGES

export const pathOf = (page: Page): `/docs${string}` => (page === "start" ? "/docs" : `/docs/${page}`)

/** Wraps a page's content in the common layout. */
export const layout = (options: {
  readonly current: Page
  readonly style: string
  readonly script: string
  readonly icon: string
  readonly content: Html
}): Html => {
  const { current, style, script, icon, content } = options
  const { title, description } = PAGES[current]
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
<link rel="icon" type="image/svg+xml" href="${inDocs}${icon}">
<link rel="stylesheet" href="${inDocs}${style}">
<script type="module" src="${inDocs}${script}"></script>
</head>
<body>
<a class="hidden" href="#content">Skip to the content</a>
<header>
<p><a href="${href("start")}">Outreach Partner API</a></p>
<nav aria-label="Documentation">
${keysOf(PAGES).map((page) => html`<a href="${href(page)}"${page === current ? html` aria-current="page"` : ""}>${PAGES[page].name}</a>\n`)}</nav>
<p class="hidden" role="status"></p>
</header>
<div class="columns">
${outline(headingsOf(content))}
<main id="content">
${content}
${next(current, href)}</main>
</div>
</body>
</html>
`
}

/** Outline of a page: links to its parts and their sections. */
const outline = (headings: ReadonlyArray<Heading>): Html => {
  const link = ({ id, title }: Heading): Html => html`<a href="#${id}">${title}</a>`
  const parts = headings.flatMap((heading, i) => (heading.level === 2 ? [{ heading, i }] : []))
  return html`<nav class="outline" aria-label="On this page">
<details>
<summary>On this page</summary>
<ul>
${parts.map(({ heading, i }, n) => {
  const sections = headings.slice(i + 1, parts[n + 1]?.i)
  return html`<li>${link(heading)}${sections.length === 0 ? "" : html`\n<ul>${sections.map((section) => html`<li>${link(section)}</li>\n`)}</ul>`}</li>\n`
})}</ul>
</details>
</nav>`
}

/** Link to the next page in reading order. */
const next = (current: Page, href: (page: Page) => string): Part => {
  const pages = keysOf(PAGES)
  const page = pages[pages.indexOf(current) + 1]
  if (page === undefined) return ""
  return html`<footer><p>Next: <a href="${href(page)}">${PAGES[page].title}</a>. ${PAGES[page].description}</p></footer>\n`
}

export const keysOf = Object.keys as <Key extends string>(table: Readonly<Record<Key, unknown>>) => ReadonlyArray<Key>

/** A part of a page with an anchor; its heading links to itself. */
export const section = (id: string, title: Part, content: Part): Html => html`<section id="${id}">
<h3><a href="#${id}">${title}</a></h3>
${content}
</section>
`

/** A table that scrolls horizontally if it is too wide, also with the keyboard. */
export const table = (caption: string, heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Part>>): Html =>
  html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first!}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`

/** A block of code that scrolls horizontally, also with the keyboard. */
export const code = (label: string, text: string): Html =>
  html`<div class="code"><pre role="group" tabindex="0" aria-label="${label}"><code>${highlight(label, text.trimEnd())}</code></pre></div>`

const LANGUAGES = { bash, cs: csharp, go, java, json, php, py: python, rb: ruby, ts: typescript }

hljs.configure({ classPrefix: "" })
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language)

/** Highlights code by the extension of its label; without a label it is JSON or shell. */
const highlight = (label: string, text: string): Html => {
  const [, extension = ""] = /\.(\w+)$/.exec(label) ?? []
  const language = Object.hasOwn(LANGUAGES, extension) ? extension : /^[{[]/.test(text) ? "json" : "bash"
  const { value } = hljs.highlight(text, { language })
  // No style uses these classes.
  return new Html(value.replaceAll(/<span class="(?:punctuation|operator|params)">([^<]*)<\/span>/g, "$1"))
}
