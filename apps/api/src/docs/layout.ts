import { type Html, html, type Part } from "./html.ts"

const PAGES = { reference: "Reference", webhooks: "Webhooks", errors: "Errors" } as const

/** Wraps the content of a page, which has the id `content` and a class of that name; `links` are what its links to the other pages begin with, as it is served one folder above them or beside. */
export const layout = (options: {
  readonly current: keyof typeof PAGES
  readonly styles: ReadonlyArray<string>
  readonly icon: string
  readonly scripts?: Part
  readonly content: Part
}): Html => {
  const { current, styles, icon, scripts = "", content } = options
  // Every address is relative, so that the pages also work below another path. The reference is /docs, the others are /docs/….
  const inDocs = current === "reference" ? "docs/" : ""
  const href = (page: keyof typeof PAGES) => (page === "reference" ? `${inDocs}../docs` : `${inDocs}${page}`)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${PAGES[current]} · Outreach Partner API</title>
<link rel="icon" type="image/svg+xml" href="${inDocs}${icon}">
${styles.map((style) => html`<link rel="stylesheet" href="${inDocs}${style}">\n`)}${scripts}</head>
<body class="${current}">
<a class="skip" href="#content">Skip to the content</a>
<header>
<p><a href="${href("reference")}">Outreach Partner API</a></p>
<nav aria-label="Guides">
${keysOf(PAGES).map((page) => html`<a href="${href(page)}"${page === current ? html` aria-current="page"` : ""}>${PAGES[page]}</a>\n`)}</nav>
</header>
${content}
</body>
</html>
`
}

const keysOf = Object.keys as <Key extends string>(table: Readonly<Record<Key, unknown>>) => ReadonlyArray<Key>

/** A table that can be scrolled by itself where it is too wide, by keys too. */
export const table = (caption: string, heads: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<Part>>): Html =>
  html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map(([first, ...rest]) => html`<tr><th scope="row">${first!}</th>${rest.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`

/** A block of code that can be scrolled by itself, by keys too. */
export const code = (label: string, text: string): Html =>
  html`<pre tabindex="0" aria-label="${label}"><code>${text.trimEnd()}</code></pre>`
